"""The processes of a run's tasks, started, watched and brought to an end together."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .failure import (
    cannot_start,
    explain,
    explain_silent,
    follows_another,
    log_tail,
    unheard,
)
from .refused import LINES, explain_refused
from .silence import CommonSilence, LedSilence
from .tasks import tasks_of, type_of
from .watchdog import ENTERED, Bounds, Watchdog

if TYPE_CHECKING:
    from .ending import TaskProcess
    from .hands import Hands

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

    def __init__(
        self, run_dir: Path, task: str, bounds: Bounds, total_steps: int, *, begun: bool
    ) -> None:
        self.task = task
        self.type = type_of(task)
        self.dir = run_dir / task
        self.dir.mkdir(exist_ok=True)
        if not begun:
            (self.dir / ENTERED).unlink(missing_ok=True)  # of an earlier attempt
        self.log = self.dir / "log.txt"
        self.log_start = self.log.stat().st_size if self.log.exists() else 0
        self.bounds = bounds
        self.dog = Watchdog(self.dir, bounds, total_steps, begun=begun)
        self.restarts = 0
        self.started = self.over = False
        """Whether it has a process, and whether it was noted that this has ended."""
        self.peak_bytes = 0
        """The most memory that its process was seen to hold."""
        self.process: TaskProcess

    def start(self, hands: Hands) -> None:
        """Have its process started.

        Raises:
            OSError: it cannot be.
        """
        self.process = hands.start(self.task, self.log)
        self.started = True

    def weigh(self) -> None:
        """Note how much memory its process has held."""
        self.peak_bytes = max(self.peak_bytes, self.process.peak_bytes or 0)

    @property
    def exit_status(self) -> int | None:
        """Of a process that has ended; below zero by a signal."""
        return self.process.exit_status

    @property
    def ended_well(self) -> bool:
        """Whether a process that has ended did so after saying that its work is over."""
        said = any(name in ENDS for name in self.names)
        return self.process.terminated or (self.exit_status == 0 and said)

    @property
    def names(self) -> list[str]:
        """The names of its events."""
        return [event["event"] for event in self.dog.events]

    def log_end(self, lines: int = LOG_LINES) -> str:
        """Return the end of what it logged in this attempt."""
        return log_tail(self.log, lines, since=self.log_start)


class Crew:
    """All tasks of one attempt. Where a chief leads, workers and parameter servers serve it."""

    def __init__(
        self,
        run_dir: Path,
        plan: Mapping[str, Any],
        hands: Hands,
        interpreter: str,
        bounds: Bounds,
        *,
        begun: bool = False,
    ) -> None:
        """Watch for what the tasks write from now on; those that have `begun` are in training."""
        self.hands = hands
        self.interpreter = interpreter
        self.bounds = bounds
        total_steps = int(plan.get("total_steps", sys.maxsize))
        self.members = [
            Member(run_dir, task, bounds, total_steps, begun=begun) for task in tasks_of(plan)
        ]
        self.leader = self.members[0]
        self.coordinated = self.leader.type == "chief"
        self.dead: list[Member] = []
        """Those that ended by themselves and not well, in order."""
        self.verdict: dict[str, Any] = {}
        """Task, cause and fix, where the crew was given up while its processes lived."""
        self._first_death_at: float | None = None
        self._imported_at: float | None = None
        self._silent: Member | None = None
        """The one that was named when tasks fell silent."""
        self._held: list[Member] = []
        """Those that the system held, as after SIGSTOP, when the crew was ended."""
        workers = [member for member in self.members if member.type == "worker"]
        led = LedSilence(self.leader, workers, bounds)
        self._silence = led if self.coordinated else CommonSilence(self.members, bounds)

    def choose_addresses(self) -> dict[str, Any]:
        """Choose where the tasks are to find each other; return the TF_CONFIG of each, if any.

        Raises:
            OSError: there is no free port.
        """
        return self.hands.choose_addresses([member.task for member in self.members])

    def start(self, now: float) -> None:
        """Start all tasks at their addresses.

        Raises:
            OSError: the interpreter cannot be started.
        """
        for member in self.members:
            member.dog.begin(now)
            member.start(self.hands)

    def look(self, now: float) -> list[Change]:
        """Read what is new and return what has just come about."""
        changes = self._look_for_silence(now)
        for member in self.members:
            member.weigh()
            if member.exit_status is not None and member not in self.dead:
                changes += self._note_end(member, now)
        self._check_rendezvous(now)
        return changes

    def is_over(self, now: float) -> bool:
        """Whether nothing more is to come of it."""
        if self.verdict:
            return True
        if self._first_death_at is not None:
            alive = any(not member.over for member in self._awaited())
            return not alive or now - self._first_death_at > self.bounds.last_words_seconds
        return all(member.over for member in self._awaited())

    @property
    def peak_bytes(self) -> dict[str, int]:
        """The most memory that each task was seen to hold, where that is known."""
        return {member.task: member.peak_bytes for member in self.members if member.peak_bytes}

    @property
    def begun(self) -> dict[str, str]:
        """How the process of each task began, where that is known."""
        begun = {member.task: member.process.begun for member in self.members}
        return {task: how for task, how in begun.items() if how}

    @property
    def recorded(self) -> bool:
        """Whether this attempt has recorded a call."""
        return any(member.dog.recorded for member in self.members)

    @property
    def stopping(self) -> bool:
        """Whether it was asked to stop."""
        return self.leader.process.stopping

    def ask_to_stop(self, now: float) -> None:
        """Ask the tasks that step to finish their call, save and end."""
        for member in self._awaited():
            member.process.ask_to_stop(now)

    def kill(self, task: str) -> None:
        """Kill a task without a word to it, as the loss of its machine would."""
        for member in self.members:
            if member.task == task:
                member.process.kill()

    @property
    def lost_a_task(self) -> bool:
        """Whether it came to its end because a task was killed, or heard of no more."""
        if self.verdict or self.stopping or not self.dead:
            return False
        culprit = self._culprit()
        silent = self._unheard() or unheard(culprit.log_end())
        return (culprit.exit_status or 0) < 0 or bool(silent)

    def press(self, now: float) -> None:
        """End by signals those that have had their time to end by themselves."""
        for member in self._awaited():
            member.process.press(now, self.bounds, member.dog)

    def end(self, now: float) -> None:
        """Kill what is left of it."""
        started = [member for member in self.members if member.started]
        self._held = [member for member in started if member.process.suspended]
        for member in started:
            member.process.kill()
            member.process.close()
        for member in started:
            member.process.wait()
            member.weigh()
            member.dog.look(now)
        self.hands.close()

    def conclusion(self) -> dict[str, Any]:
        """Return the final state with what is to be told of it."""
        leader = self.leader
        ended = [name for name in leader.names if name in ENDS]
        # An engine may tell the others to stop where one has died: that is no stop.
        died_first = "finished" not in ended and bool(self.dead) and not self.stopping
        if ended and not died_first and (leader.exit_status == 0 or leader.process.terminated):
            return {"state": ended[-1]}
        if note := next((m.process.note for m in self.members if m.process.note), None):
            return {"state": "stopped", "note": note}
        if self.verdict:
            return {"state": "failed", **self.verdict}
        culprit = self._culprit()
        log, status = culprit.log_end(), culprit.exit_status or 0
        reason = explain(status, culprit.dog.events, log, self.interpreter)
        reason |= explain_refused(culprit.log_end(LINES)) if status > 0 else {}
        if silent := self._unheard():
            reason |= explain_silent(silent.task, status)
            culprit, log = silent, silent.log_end()
        return {"state": "failed", "task": culprit.task, "log": log, **reason}

    def _awaited(self) -> list[Member]:
        """Return those whose end is the crew's: all, or those that others serve."""
        serve = SERVERS if self.coordinated else ()
        return [member for member in self.members if member.type not in serve]

    def _note_end(self, member: Member, now: float) -> list[Change]:
        serves = member not in self._awaited()
        member.over = True
        member.dog.look(now)  # its last events
        if not serves and member.ended_well:
            return []
        needed = member.type == "worker" or (member.type == "evaluator" and not self.stopping)
        if self.coordinated and needed and member.restarts < MOST_RESTARTS:
            return self._restart(member, now)
        self.dead.append(member)
        if self._first_death_at is None:
            self._first_death_at = now
        return []

    def _restart(self, member: Member, now: float) -> list[Change]:
        """Start a task again at its address, where its coordinator waits for it."""
        log = member.log_end()
        reason = explain(member.exit_status or 0, [], log, self.interpreter)
        member.process.kill()
        member.process.close()
        member.restarts += 1
        member.over = False
        member.dog.begin(now)
        try:
            member.start(self.hands)
        except OSError as error:
            reason = cannot_start(error, self.interpreter)
            self.verdict = {"task": member.task, "log": log, **reason}
            return []
        told = {"cause": reason["cause"], "begun": member.process.begun}
        return [Change("restarted", member.task, told)]

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

    def _unheard(self) -> Member | None:
        """Return the one that the others waited for until they gave up; None where none is known.

        TensorFlow names it in their logs, but not where it is the one that listens to all.
        """
        logs = [member.log_end() for member in self.dead]
        if not logs or not all(map(follows_another, logs)):
            return None
        named = {task for log in logs for task in unheard(log)}
        living = [member for member in self.members if member not in self.dead]
        found = [member for member in living if member.task in named] or self._held
        return found[0] if found else None

    def _culprit(self) -> Member:
        """Return whose end was the first cause, for a task that loses another one ends too."""
        dead = self.dead or self.members
        told = sorted((m for m in self.members if "nonfinite" in m.names), key=_first_nonfinite)
        served = [member for member in dead if self.coordinated and member is not self.leader]
        first = [member for member in dead if not follows_another(member.log_end())]
        return (told or served or first or dead)[0]


def _first_nonfinite(member: Member) -> tuple[int, int]:
    """Return the first step at which a task met no number, and the replica."""
    told = [event for event in member.dog.events if event["event"] == "nonfinite"]
    return min((int(each.get("step") or 0), int(each.get("replica") or 0)) for each in told)
