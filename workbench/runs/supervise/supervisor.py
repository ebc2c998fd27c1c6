"""The process that starts a run's trainer, watches it and records its states.

It needs only the standard library. It outlives the notebook that started it. The trainer outlives
the supervisor at most by the current call, because the trainer reads from a pipe that closes with
the supervisor.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import select
import signal
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from workbench.runs.copying.archiver import Copying
from workbench.runs.folder import locks
from workbench.runs.folder.events import EventLog
from workbench.runs.folder.files import CARD, KILL, SCRIPT, RunError, read_json, sha256
from workbench.runs.folder.plan import read_plan
from workbench.runs.folder.unwritten import is_full
from workbench.runs.processes.bounds import Bounds
from workbench.runs.processes.environment import Launch
from workbench.runs.processes.forks import BEGUN, Forks
from workbench.runs.processes.own_modules import KEPT, changed_files, module_hashes
from workbench.runs.processes.peak_memory import EVENT as PEAK_MEMORY
from workbench.runs.processes.task_starter import LocalTaskStarter

from .diagnosis import blame_disk, cannot_start, with_own_fix
from .queue import Ticket
from .rehearsal import NOTE, Rehearsal
from .task_group import TaskGroup

LAST_WRITE_SECONDS = 60.0
LOADS = "TensorFlow is loaded once in a server, which then forks the run's processes."
STOPPED_EARLY = "Stopped before its processes were started."


class Supervisor:
    """The supervisor of one run, from the queue to the run's final state."""

    def __init__(self, run_dir: Path, bounds: Bounds, lock_fd: int) -> None:
        self.dir = run_dir
        self.lock_fd = lock_fd
        self.card = read_json(run_dir / CARD)
        self.plan = read_plan(run_dir)
        config = self.plan.config
        self.start_now = config.start_now
        self.restarts = config.restarts or 0
        self.copying = Copying(run_dir, bounds) if config.archive else None
        patience = config.rendezvous_seconds or bounds.rendezvous_seconds
        self.bounds = dataclasses.replace(bounds, rendezvous_seconds=patience)
        self.launch = Launch.of(run_dir)
        self.state_dir = Path(self.card.get("state_dir") or locks.state_dir())
        self.forks = Forks(self.launch, self.state_dir, config.start)
        self.devices = self.plan.physical_devices
        self.events = EventLog(run_dir / "events.jsonl")
        self.stop_requested = False
        self.why_restarted: dict[str, str] = {}
        """The note of an attempt that follows another: why the earlier one ended."""
        self.went_on: dict[str, str] = {}
        """The note of that attempt once it trains."""
        self.killed = ""
        """The task that was killed because a user asked for it."""
        self.woken = _wake_on_signals(self._stop_by_signal)

    def queue(self) -> Ticket:
        """Write the first event and take a place in the queue for the run's devices."""
        devices = self.devices
        ticket = Ticket.draw(self.state_dir, self.dir, devices, start_now=self.start_now)
        if not self._state("queued", devices=devices, supervisor_pid=os.getpid()):
            ticket.give_back()
            raise RunError(
                f"{self.dir / 'events.jsonl'} cannot be written. Make room on the disk, or give "
                "yourself permission to write there."
            )
        return ticket

    def run(self, ticket: Ticket) -> None:
        """Wait for the devices, train, and write the final state."""
        if self._wait_for_turn(ticket):
            self._train(ticket.fd)
        else:
            self._state("stopped", note="Stopped while it waited for its devices.")
        self.forks.close()
        ticket.give_back()
        deadline = time.monotonic() + LAST_WRITE_SECONDS
        while not self.events.flush() and (is_full(self.dir) or time.monotonic() < deadline):
            self._sleep()

    def give_up(self, error: Exception) -> None:
        """Record that the run failed because of an error in the supervisor itself."""
        cause = str(error) if isinstance(error, RunError) else f"{type(error).__name__}: {error}"
        fix = "Read supervisor.log in the run's folder, fix the error in it, then resume the run."
        log = traceback.format_exc()
        self._state("failed", task="supervisor", cause=cause, fix=fix, log=log)

    def _wait_for_turn(self, ticket: Ticket) -> bool:
        waited_for: list[Path] = []
        while not self._stop_asked():
            if self.start_now or not (ahead := ticket.ahead()):
                return True
            if ahead != waited_for:
                self._state("queued", devices=ticket.devices, behind=list(map(str, ahead)))
                waited_for = ahead
            self._sleep()
        return False

    def _train(self, ticket_fd: int) -> None:
        locks_held = (self.lock_fd, ticket_fd)
        if not self._rehearsed(locks_held):
            return
        if not self._loaded(several=len(self.plan.tasks) > 1):
            self._state("stopped", note=STOPPED_EARLY)
            return
        script = (self.dir / SCRIPT).read_text(encoding="utf-8")
        facts = {"script_sha256": sha256(script), "supervisor_pid": os.getpid()}
        for left in reversed(range(self.restarts + 1)):
            starter = LocalTaskStarter(self.dir, self.launch, locks_held, self.forks)
            group = TaskGroup(self.dir, self.plan, starter, self.launch.interpreter, self.bounds)
            ended = self._attempt(group, facts)
            again = left and ended["state"] == "failed" and group.lost_a_task
            if not again or self._stop_asked():
                self._state(**ended)
                return
            cause = "Killed on request." if ended["task"] == self.killed else ended["cause"]
            self._note_restart(f"{ended['task']}: {cause}")

    def _note_restart(self, why: str) -> None:
        """Keep the reason why an attempt ended, for the states of the attempt that follows it."""
        at = time.strftime("%H:%M:%S on %d %b")
        self.why_restarted = {"note": f"{why} All tasks start again from the last checkpoint."}
        self.went_on = {"note": f"{why} All tasks started again from the last checkpoint at {at}."}

    def _attempt(self, group: TaskGroup, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Train once; return the state in which the attempt ends."""
        try:
            configs = group.choose_addresses()
            addresses = {"tf_configs": configs} if configs else {}
            modules = module_hashes(self.plan, self.launch.working_dir)
            if changed := changed_files(self.plan, self.dir):
                modules[KEPT] = changed
            self._state("starting", **facts, **addresses, **modules, **self.why_restarted)
            group.start(time.monotonic())
            self.events.write(BEGUN, how=group.begun)
        except OSError as error:
            reason = cannot_start(error, self.launch.interpreter)
            group.end(time.monotonic())
            return {"state": "failed", "task": group.leader.name, "log": "", **reason}
        try:
            self._watch(group)
        finally:
            group.end(time.monotonic())
        self._note_memory(group)
        return with_own_fix(self.plan, blame_disk(group.conclusion(), self.dir))

    def _loaded(self, *, several: bool) -> bool:
        """Have TensorFlow loaded if processes will be forked; return False after a stop request."""
        if self.forks.must_load(several=several):
            self._state("starting", loading=True, note=LOADS, supervisor_pid=os.getpid())
        self.forks.prepare(self._sleep, self._stop_asked, several=several)
        return not self._stop_asked()

    def _note_memory(self, group: TaskGroup) -> None:
        if held := group.peak_bytes:
            self.events.write(PEAK_MEMORY, bytes=held)

    def _rehearsed(self, held_fds: Sequence[int]) -> bool:
        """Do a rehearsal if one is due; return whether the run can begin."""
        rehearsal = Rehearsal(self.dir, self.launch, self.bounds, held_fds, self.forks)
        if not rehearsal.is_due:
            return True
        began = time.monotonic()
        if not self._loaded(several=True):  # the rehearsal and the run
            self._state("stopped", note=STOPPED_EARLY)
            return False
        self._state("starting", rehearsal=True, note=NOTE, supervisor_pid=os.getpid())
        try:
            ended = rehearsal.run(self._sleep, self._stop_asked)
        except OSError as error:
            ended = {"state": "failed", **cannot_start(error, self.launch.interpreter), "log": ""}
        if ended["state"] == "finished":
            seconds = round(time.monotonic() - began, 3)
            self.events.write("rehearsed", seconds=seconds, trouble=ended["trouble"])
            return True
        self._state(**ended)
        return False

    def _poll(self, group: TaskGroup, now: float) -> None:
        """Record the changes that have just happened."""
        for change in group.poll(now):
            details = {} if change.name == "recovered" else change.details
            self.events.write(change.name, task=change.task, **details)

    def _watch(self, group: TaskGroup) -> None:
        running = False
        while not group.is_over(time.monotonic()):
            self._sleep()
            now = time.monotonic()
            self._poll(group, now)
            if group.recorded and not running and not group.stopping:
                running = self._state("running", **self.went_on) or True
            if self._stop_asked() and not group.stopping:
                self._state("stopping")
                group.ask_to_stop(now)
            if task := self._kill_asked():
                self.killed = task
                group.kill(task)
            group.escalate(now)
            self.events.flush()

    def _state(self, state: str, **details: Any) -> bool:
        return self.events.write("state", state=state, **details)

    def _stop_asked(self) -> bool:
        return self.stop_requested or (self.dir / "stop").exists()

    def _kill_asked(self) -> str:
        """Return the task that must be killed, only once; an empty string if there is none."""
        asked = self.dir / KILL
        try:
            task = asked.read_text(encoding="utf-8")
            asked.unlink()
        except FileNotFoundError:
            return ""
        return task

    def _stop_by_signal(self) -> None:
        self.stop_requested = True

    def _sleep(self) -> None:
        if self.copying is not None:
            self.copying.poll(time.monotonic())
        ends = [each.fileno() for each in self.forks.running]
        select.select([self.woken, *ends], [], [], self.bounds.poll_seconds)
        with contextlib.suppress(BlockingIOError):
            os.read(self.woken, 4096)


def _wake_on_signals(stop: Callable[[], None]) -> int:
    """Make SIGTERM and SIGINT stop the run; return a descriptor readable after any signal."""
    read_end, write_end = os.pipe()
    os.set_blocking(read_end, False)
    os.set_blocking(write_end, False)
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop())
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    return read_end
