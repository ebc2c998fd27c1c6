"""The processes of a run's tasks, started, watched and brought to an end together."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .failure import cannot_start, explain, follows_another, log_tail
from .launch import Launch
from .silence import CommonSilence, LedSilence
from .tasks import environments, tasks_of, type_of
from .trainer import Trainer
from .watchdog import ENTERED, Bounds, Watchdog

if TYPE_CHECKING:
    from .standby import WaitingTrainer

LOG_LINES = 30
MOST_RESTARTS = 3
SERVERS = ("worker", "ps")
ENDS = ("finished", "stopped")


class Change(NamedTuple):
    """What has just become of a task: stalled, recovered or restarted."""

    name: str
    task: str
    details: dict[str, Any]


class Member:
    """One task: its process, its log, and who watches it."""

    def __init__(self, run_dir: Path, task: str, bounds: Bounds, total_steps: int) -> None:
        self.task = task
        self.type = type_of(task)
        self.dir = run_dir / task
        self.dir.mkdir(exist_ok=True)
        (self.dir / ENTERED).unlink(missing_ok=True)  # of an earlier attempt
        self.log = self.dir / "log.txt"
        self.log_start = self.log.stat().st_size if self.log.exists() else 0
        self.bounds = bounds
        self.dog = Watchdog(self.dir, bounds, total_steps)
        self.restarts = 0
        self.started = False
        self.trainer: Trainer

    def start(self, launch: Launch, environment: Mapping[str, str], **options: Any) -> None:
        """Start its process; see `Trainer`.

        Raises:
            OSError: the interpreter cannot be started.
        """
        self.trainer = Trainer(self.dir, launch, self.log, environment, **options)
        self.started = True

    @property
    def exit_status(self) -> int | None:
        """Of a process that has ended; below zero by a signal."""
        return self.trainer.process.poll()

    @property
    def ended_well(self) -> bool:
        """Whether a process that has ended did so after saying that its work is over."""
        said = any(name in ENDS for name in self.names)
        return self.trainer.terminated or (self.exit_status == 0 and said)

    @property
    def names(self) -> list[str]:
        """The names of its events."""
        return [event["event"] for event in self.dog.events]

    def log_end(self) -> str:
        """Return the end of what it logged in this attempt."""
        return log_tail(self.log, LOG_LINES, since=self.log_start)


class Crew:
    """All tasks of one attempt. Where a chief leads, workers and parameter servers serve it."""

    def __init__(
        self,
        run_dir: Path,
        plan: Mapping[str, Any],
        launch: Launch,
        bounds: Bounds,
        held_fds: Sequence[int],
    ) -> None:
        self.launch = launch
        self.bounds = bounds
        self.held_fds = tuple(held_fds)
        total_steps = int(plan.get("total_steps", sys.maxsize))
        self.members = [Member(run_dir, task, bounds, total_steps) for task in tasks_of(plan)]
        self.leader = self.members[0]
        self.coordinated = self.leader.type == "chief"
        self.dead: list[Member] = []
        """Those that ended by themselves and not well, in order."""
        self.verdict: dict[str, Any] = {}
        """Task, cause and fix, where the crew was given up while its processes lived."""
        self._environments: dict[str, dict[str, str]] = {}
        self._ports = ExitStack()
        self._first_death_at: float | None = None
        self._imported_at: float | None = None
        self._silent: Member | None = None
        """The one that was named when tasks fell silent."""
        workers = [member for member in self.members if member.type == "worker"]
        led = LedSilence(self.leader, workers, bounds)
        self._silence = led if self.coordinated else CommonSilence(self.members, bounds)

    def choose_addresses(self) -> dict[str, Any]:
        """Choose where the tasks are to find each other; return the TF_CONFIG of each, if any.

        Raises:
            OSError: there is no free port.
        """
        tasks = [member.task for member in self.members]
        self._environments = environments(tasks, self._ports)
        return {
            task: json.loads(values["TF_CONFIG"])
            for task, values in self._environments.items()
            if "TF_CONFIG" in values
        }

    def start(self, now: float, waiting: WaitingTrainer | None) -> None:
        """Start all tasks at their addresses; a process that waits becomes the only one.

        Raises:
            OSError: the interpreter cannot be started.
        """
        alone = len(self.members) == 1
        if waiting is not None and not alone:
            waiting.end()
        for member in self.members:
            member.dog.begin(now)
            self._start(member, waiting if alone else None)

    def look(self, now: float) -> list[Change]:
        """Read what is new and return what has just come about."""
        changes = self._look_for_silence(now)
        for member in self.members:
            if member.exit_status is not None and member not in self.dead:
                changes += self._note_end(member, now)
        self._check_rendezvous(now)
        return changes

    def is_over(self, now: float) -> bool:
        """Whether nothing more is to come of it."""
        if self.verdict:
            return True
        if self._first_death_at is not None:
            alive = any(member.exit_status is None for member in self._awaited())
            return not alive or now - self._first_death_at > self.bounds.last_words_seconds
        return all(member.exit_status is not None for member in self._awaited())

    @property
    def recorded(self) -> bool:
        """Whether this attempt has recorded a call."""
        return any(member.dog.recorded for member in self.members)

    @property
    def stopping(self) -> bool:
        """Whether it was asked to stop."""
        return self.leader.trainer.stopping

    def ask_to_stop(self, now: float) -> None:
        """Ask the tasks that step to finish their call, save and end."""
        for member in self._awaited():
            member.trainer.ask_to_stop(now)

    def press(self, now: float) -> None:
        """End by signals those that have had their time to end by themselves."""
        for member in self._awaited():
            member.trainer.press(now, self.bounds, member.dog)

    def end(self, now: float) -> None:
        """Kill what is left of it."""
        started = [member for member in self.members if member.started]
        for member in started:
            member.trainer.kill_group()
            member.trainer.close()
        for member in started:
            member.trainer.process.wait()
            member.dog.look(now)
        self._ports.close()

    def conclusion(self) -> dict[str, Any]:
        """Return the final state with what is to be told of it."""
        leader = self.leader
        ended = [name for name in leader.names if name in ENDS]
        if ended and (leader.exit_status == 0 or leader.trainer.terminated):
            return {"state": ended[-1]}
        if note := next((m.trainer.note for m in self.members if m.trainer.note), None):
            return {"state": "stopped", "note": note}
        if self.verdict:
            return {"state": "failed", **self.verdict}
        culprit = self._culprit()
        log, status = culprit.log_end(), culprit.exit_status or 0
        reason = explain(status, culprit.dog.events, log, self.launch.interpreter)
        return {"state": "failed", "task": culprit.task, "log": log, **reason}

    def _start(self, member: Member, waiting: WaitingTrainer | None = None) -> None:
        environment = self._environments[member.task]
        member.start(self.launch, environment, kept_fds=self.held_fds, waiting=waiting)

    def _awaited(self) -> list[Member]:
        """Return those whose end is the crew's: all, or those that others serve."""
        serve = SERVERS if self.coordinated else ()
        return [member for member in self.members if member.type not in serve]

    def _note_end(self, member: Member, now: float) -> list[Change]:
        serves = member not in self._awaited()
        member.dog.look(now)  # its last events
        if not serves and member.ended_well:
            return []
        if serves and member.type == "worker" and member.restarts < MOST_RESTARTS:
            return self._restart(member, now)
        self.dead.append(member)
        if self._first_death_at is None:
            self._first_death_at = now
        return []

    def _restart(self, member: Member, now: float) -> list[Change]:
        """Start a worker again at its address, where its coordinator waits for it."""
        log = member.log_end()
        reason = explain(member.exit_status or 0, [], log, self.launch.interpreter)
        member.trainer.kill_group()
        member.trainer.close()
        member.restarts += 1
        member.dog.begin(now)
        try:
            self._start(member)
        except OSError as error:
            reason = cannot_start(error, self.launch.interpreter)
            self.verdict = {"task": member.task, "log": log, **reason}
            return []
        return [Change("restarted", member.task, {"cause": reason["cause"]})]

    def _look_for_silence(self, now: float) -> list[Change]:
        """Look at all tasks; return the one that holds up the others, or that all go on again."""
        leader = self.leader.dog if self.coordinated else None
        for member in self.members:
            member.dog.look(now, None if member is self.leader else leader)
        known, self._silent = self._silent, self._silence.blame(now)
        if self._silent is known:
            return []
        if self._silent is None:
            return [Change("recovered", known.task, {})] if known else []
        told = {"silent_seconds": round(self._silence.seconds, 1), "log": self._silent.log_end()}
        return [Change("stalled", self._silent.task, told)]

    def _check_rendezvous(self, now: float) -> None:
        """Give up where tasks do not find each other: TensorFlow itself waits without a word."""
        if len(self.members) == 1:
            return
        late = [member for member in self.members if "imported" not in member.names]
        if len(late) == len(self.members) or any("start" in m.names for m in self.members):
            return
        if self._imported_at is None:
            self._imported_at = now
        if now - self._imported_at < self.bounds.rendezvous_seconds:
            return
        culprit = (late or self.members)[0]
        who = ", ".join(member.task for member in late)
        missing = f"{who} did not come" if late else "all came and did not find each other"
        self.verdict = {
            "task": culprit.task,
            "cause": f"The tasks have {self.bounds.rendezvous_seconds:g} s to meet; {missing}.",
            "fix": "Read the log of that task, mend what it names, then resume; where a start "
            "just takes longer, set rendezvous_seconds to more.",
            "log": culprit.log_end(),
        }

    def _culprit(self) -> Member:
        """Return whose end was the first cause, for a task that loses another one ends too."""
        dead = self.dead or self.members
        told = [member for member in dead if "nonfinite" in member.names]
        served = [member for member in dead if self.coordinated and member is not self.leader]
        first = [member for member in dead if not follows_another(member.log_end())]
        return (told or served or first or dead)[0]
