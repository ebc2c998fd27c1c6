"""The processes of a run's tasks, started, watched and ended together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.runs.processes.bounds import Bounds

from .diagnosis import cannot_start, explain, explain_silent, follows_another, without_heartbeat
from .refused import LINES, explain_refused
from .stalls import CommonSilence, LedSilence
from .task import ENDS, Task
from .user_code import line_in_user_code, own_texts

if TYPE_CHECKING:
    from workbench.plan import Plan
    from workbench.runs.processes.task_starter import TaskStarter

MOST_RESTARTS = 3
SERVERS = ("worker", "ps")


class Change(NamedTuple):
    """A change of a task that has just happened: stalled, recovered or restarted."""

    name: str
    task: str
    details: dict[str, Any]


class TaskGroup:
    """All tasks of one attempt. If a chief leads, workers and parameter servers serve it."""

    def __init__(
        self,
        run_dir: Path,
        plan: Plan,
        starter: TaskStarter,
        interpreter: str,
        bounds: Bounds,
        *,
        begun: bool = False,
    ) -> None:
        """Watch the new output of the tasks; with `begun` they are already in training."""
        self.starter = starter
        self.interpreter = interpreter
        self.bounds = bounds
        total = plan.total_steps
        self.tasks = [Task(run_dir, task, bounds, total, begun=begun) for task in plan.tasks]
        self.leader = self.tasks[0]
        self._plan = plan
        self._is_led = not plan.synchronous
        self.dead: list[Task] = []
        """The tasks that ended by themselves and not well, in order."""
        self.verdict: dict[str, Any] = {}
        """Task, cause and fix, if the group was given up while its processes lived."""
        self._first_death_at: float | None = None
        self._imported_at: float | None = None
        self._silent: Task | None = None
        """The task that was named when tasks fell silent."""
        self._held: list[Task] = []
        """The tasks that the system had suspended, as after SIGSTOP, when the group was ended."""
        workers = [task for task in self.tasks if task.type == "worker"]
        led = LedSilence(self.leader, workers, bounds)
        self._silence = led if self._is_led else CommonSilence(self.tasks, bounds)

    def choose_addresses(self) -> dict[str, Any]:
        """Choose the addresses of the tasks; return the TF_CONFIG of each task, if it has one.

        Raises:
            OSError: there is no free port.
        """
        return self.starter.choose_addresses([task.name for task in self.tasks])

    def start(self, now: float) -> None:
        """Start all tasks at their addresses.

        Raises:
            OSError: the interpreter cannot be started.
        """
        for task in self.tasks:
            task.watchdog.begin(now)
            task.start(self.starter)

    def poll(self, now: float) -> list[Change]:
        """Read the new output of the tasks and return the changes that have just happened."""
        changes = self._look_for_silence(now)
        for task in self.tasks:
            task.weigh()
            if task.exit_status is not None and task not in self.dead:
                changes += self._note_end(task, now)
        self._check_rendezvous(now)
        return changes

    def is_over(self, now: float) -> bool:
        """Return whether the group is over, so that nothing more can be expected from it."""
        if self.verdict:
            return True
        if self._first_death_at is not None:
            alive = any(not task.over for task in self._awaited())
            return not alive or now - self._first_death_at > self.bounds.last_words_seconds
        return all(task.over for task in self._awaited())

    @property
    def peak_bytes(self) -> dict[str, int]:
        """The peak memory of each task in bytes, if it is known."""
        return {task.name: task.peak_bytes for task in self.tasks if task.peak_bytes}

    @property
    def begun(self) -> dict[str, str]:
        """How the process of each task was started, if that is known."""
        begun = {task.name: task.process.begun for task in self.tasks}
        return {task: how for task, how in begun.items() if how}

    @property
    def recorded(self) -> bool:
        """Whether this attempt has recorded a call."""
        return any(task.watchdog.recorded for task in self.tasks)

    @property
    def stopping(self) -> bool:
        """Whether the group was asked to stop."""
        return self.leader.process.stopping

    def ask_to_stop(self, now: float) -> None:
        """Ask the tasks that the group waits for to finish their call, save and end."""
        for task in self._awaited():
            task.process.ask_to_stop(now)

    def kill(self, task: str) -> None:
        """Kill a task without a request to stop, as if its machine was lost."""
        for each in self.tasks:
            if each.name == task:
                each.process.kill()

    @property
    def lost_a_task(self) -> bool:
        """Whether the group ended because a task was killed or its heartbeats stopped."""
        if self.verdict or self.stopping or not self.dead:
            return False
        culprit = self._culprit()
        silent = self._unresponsive() or without_heartbeat(culprit.log_end())
        return (culprit.exit_status or 0) < 0 or bool(silent)

    def escalate(self, now: float) -> None:
        """End by signals the tasks whose time to end by themselves is over."""
        for task in self._awaited():
            task.escalate(now)

    def end(self, now: float) -> None:
        """Kill the processes of the group that are left."""
        started = [task for task in self.tasks if task.started]
        self._held = [task for task in started if task.process.suspended]
        for task in started:
            task.process.kill()
            task.process.close()
        for task in started:
            task.process.wait()
            task.weigh()
            task.watchdog.poll(now)
        self.starter.close()

    def conclusion(self) -> dict[str, Any]:
        """Return the final state with the details to record."""
        leader = self.leader
        ended = [name for name in leader.event_names if name in ENDS]
        # An engine may ask the others to stop after one has died: that is not a stop of the run.
        died_first = "finished" not in ended and bool(self.dead) and not self.stopping
        if ended and not died_first and (leader.exit_status == 0 or leader.process.terminated):
            return {"state": ended[-1]}
        if note := next((each.process.note for each in self.tasks if each.process.note), None):
            return {"state": "stopped", "note": note}
        if self.verdict:
            return {"state": "failed", **self.verdict}
        culprit = self._culprit()
        log, status = culprit.log_end(), culprit.exit_status or 0
        reason = explain(status, culprit.watchdog.events, log, self.interpreter)
        whole = culprit.log_end(LINES) if status > 0 else ""
        reason |= explain_refused(whole)
        if status == 1 and (place := line_in_user_code(whole, own_texts(self._plan))):
            reason["cause"] = f"{reason['cause'].rstrip('.')}, raised in {place}"
        if silent := self._unresponsive():
            reason |= explain_silent(silent.name, status)
            culprit, log = silent, silent.log_end()
        return {"state": "failed", "task": culprit.name, "log": log, **reason}

    def _awaited(self) -> list[Task]:
        """Return the tasks whose end is the group's end: all, or the tasks that others serve."""
        serve = SERVERS if self._is_led else ()
        return [task for task in self.tasks if task.type not in serve]

    def _note_end(self, task: Task, now: float) -> list[Change]:
        serves = task not in self._awaited()
        task.over = True
        task.watchdog.poll(now)  # its last events
        if not serves and task.ended_well:
            return []
        alone = self._plan.restarts_alone(task.name)
        needed = task.type == "worker" or not self.stopping
        if alone and needed and task.restarts < MOST_RESTARTS:
            return self._restart(task, now)
        self.dead.append(task)
        if self._first_death_at is None:
            self._first_death_at = now
        return []

    def _restart(self, task: Task, now: float) -> list[Change]:
        """Start a task again at its address, where its coordinator waits for it."""
        log = task.log_end()
        reason = explain(task.exit_status or 0, [], log, self.interpreter)
        task.process.kill()
        task.process.close()
        task.restarts += 1
        task.over = False
        task.watchdog.begin(now)
        try:
            task.start(self.starter)
        except OSError as error:
            reason = cannot_start(error, self.interpreter)
            self.verdict = {"task": task.name, "log": log, **reason}
            return []
        details = {"cause": reason["cause"], "begun": task.process.begun}
        return [Change("restarted", task.name, details)]

    def _look_for_silence(self, now: float) -> list[Change]:
        """Check all tasks; return the task that holds up the others, or that all go on again."""
        leader = self.leader.watchdog if self._is_led else None
        for task in self.tasks:
            task.watchdog.poll(now, None if task is self.leader else leader)
        known, self._silent = self._silent, self._silence.blame(now)
        if self._silent is known:
            return []
        if self._silent is None:
            return [Change("recovered", known.name, {})] if known else []
        details = {"silent_seconds": round(self._silence.seconds, 1), "log": self._silent.log_end()}
        return [Change("stalled", self._silent.name, details)]

    def _check_rendezvous(self, now: float) -> None:
        """Give up if tasks do not find each other: TensorFlow itself waits silently."""
        if len(self.tasks) == 1:
            return
        late = [task for task in self.tasks if "imported" not in task.event_names]
        if len(late) == len(self.tasks) or any("start" in each.event_names for each in self.tasks):
            return
        if self._imported_at is None:
            self._imported_at = now
        if now - self._imported_at < self.bounds.rendezvous_seconds:
            return
        culprit = (late or self.tasks)[0]
        who = ", ".join(task.name for task in late)
        missing = (
            f"{who} did not connect" if late else "All tasks started, but did not find each other"
        )
        self.verdict = {
            "task": culprit.name,
            "cause": f"{missing} within {self.bounds.rendezvous_seconds:g} s.",
            "fix": "Read the log of that task, fix the error in it, then resume; if the start only "
            "needs more time, increase rendezvous_seconds.",
            "log": culprit.log_end(),
        }

    def _unresponsive(self) -> Task | None:
        """Return the task that the others waited for until they gave up; None if it is unknown.

        TensorFlow names it in their logs, except if it is the task that listens to all others.
        Then it is a task that the system had suspended.
        """
        logs = [task.log_end() for task in self.dead]
        if not logs or not all(map(follows_another, logs)):
            return None
        named = {task for log in logs for task in without_heartbeat(log)}
        living = [task for task in self.tasks if task not in self.dead]
        found = [task for task in living if task.name in named] or self._held
        return found[0] if found else None

    def _culprit(self) -> Task:
        """Return the task whose end was the first cause; a task that loses another one ends too."""
        dead = self.dead or self.tasks
        diverged = [task for task in self.tasks if "nonfinite" in task.event_names]
        served = [task for task in dead if self._is_led and task is not self.leader]
        first = [task for task in dead if not follows_another(task.log_end())]
        return (sorted(diverged, key=_first_nonfinite) or served or first or dead)[0]


def _first_nonfinite(task: Task) -> tuple[int, int]:
    """Return the first step at which a task met a non-finite number, and the replica."""
    events = [event for event in task.watchdog.events if event["event"] == "nonfinite"]
    return min((int(each.get("step") or 0), int(each.get("replica") or 0)) for each in events)
