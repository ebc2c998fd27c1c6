"""The process that starts a run's trainer, watches it and writes what becomes of it.

`python -m workbench.runs.supervisor RUN_DIR` needs the standard library only. It outlives the
notebook that started it; the trainer outlives it by no more than the call under way, because the
trainer reads from a pipe that closes with the supervisor.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import locks
from .archiver import Copying
from .crew import Crew
from .directory import KILL, SCRIPT, RunError, read_json, sha256
from .events import EventLog
from .failure import cannot_start
from .forks import BEGUN, Forks
from .hands import LocalHands
from .launch import Launch
from .own_modules import module_hashes
from .peak_memory import EVENT as PEAK_MEMORY
from .rehearsal import NOTE, Rehearsal
from .state import alive_error, take_lock
from .tasks import tasks_of
from .unwritten import blame_disk, is_full
from .watchdog import Bounds

LAST_WRITE_SECONDS = 60.0
LOADS = "TensorFlow is loaded once; the run's processes are forked from there."
STOPPED_EARLY = "Stopped before its processes were started."


class Supervisor:
    """One attempt at one run, from the queue to its final state."""

    def __init__(self, run_dir: Path, bounds: Bounds, lock_fd: int) -> None:
        self.dir = run_dir
        self.lock_fd = lock_fd
        self.card = read_json(run_dir / "run.json")
        self.plan = read_json(run_dir / "plan.json")
        config = read_json(run_dir / "config.json")
        self.start_now = bool(config.get("start_now"))
        self.restarts = int(config.get("restarts") or 0)
        self.copying = Copying(run_dir, bounds) if config.get("archive") else None
        patience = config.get("rendezvous_seconds") or bounds.rendezvous_seconds
        self.bounds = dataclasses.replace(bounds, rendezvous_seconds=patience)
        self.launch = Launch.of(run_dir, self.card, self.plan)
        self.state_dir = Path(self.card.get("state_dir") or locks.state_dir())
        self.forks = Forks(self.launch, self.state_dir, config.get("start"))
        self.devices = tuple(self.plan.get("physical_devices", ()))
        self.events = EventLog(run_dir / "events.jsonl")
        self.told_to_stop = False
        self.why_anew: dict[str, str] = {}
        """The note of an attempt that follows another: why that one ended."""
        self.killed = ""
        """The task that was killed because somebody asked for it."""
        self.woken = _wake_on_signals(self._stop_by_signal)

    def queue(self) -> locks.Ticket:
        """Write the first event and take a place in the queue for the run's devices."""
        devices = self.devices
        ticket = locks.Ticket.draw(self.state_dir, self.dir.name, devices, start_now=self.start_now)
        if not self._state("queued", devices=devices, supervisor_pid=os.getpid()):
            ticket.give_back()
            raise RunError(
                f"A run's events must be writable; {self.dir / 'events.jsonl'} is not. Make room "
                "on the disk, or give yourself the right to write there."
            )
        return ticket

    def run(self, ticket: locks.Ticket) -> None:
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
        """Write that the run failed by an error of the supervisor's own."""
        cause = str(error) if isinstance(error, RunError) else f"{type(error).__name__}: {error}"
        fix = "Read supervisor.log in the run's folder, mend what it names, then resume the run."
        log = traceback.format_exc()
        self._state("failed", task="supervisor", cause=cause, fix=fix, log=log)

    def _wait_for_turn(self, ticket: locks.Ticket) -> bool:
        waited_for: list[str] = []
        while not self._stop_asked():
            if self.start_now or not (ahead := ticket.ahead()):
                return True
            if ahead != waited_for:
                self._state("queued", devices=ticket.devices, behind=ahead)
                waited_for = ahead
            self._sleep()
        return False

    def _train(self, ticket_fd: int) -> None:
        locks_held = (self.lock_fd, ticket_fd)
        if not self._rehearsed(locks_held):
            return
        if not self._loaded(several=len(tasks_of(self.plan)) > 1):
            self._state("stopped", note=STOPPED_EARLY)
            return
        script = (self.dir / SCRIPT).read_text(encoding="utf-8")
        facts = {"script_sha256": sha256(script), "supervisor_pid": os.getpid()}
        for left in reversed(range(self.restarts + 1)):
            hands = LocalHands(self.dir, self.launch, locks_held, self.forks)
            crew = Crew(self.dir, self.plan, hands, self.launch.interpreter, self.bounds)
            ended = self._attempt(crew, facts)
            anew = left and ended["state"] == "failed" and crew.lost_a_task
            if not anew or self._stop_asked():
                self._state(**ended)
                return
            cause = "Killed, as asked." if ended["task"] == self.killed else ended["cause"]
            note = f"{ended['task']}: {cause} All begin anew from the last checkpoint."
            self.why_anew = {"note": note}

    def _attempt(self, crew: Crew, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Train once; return the state it ends in."""
        try:
            configs = crew.choose_addresses()
            told = {"tf_configs": configs} if configs else {}
            modules = module_hashes(self.plan, self.launch.working_dir)
            self._state("starting", **facts, **told, **modules, **self.why_anew)
            crew.start(time.monotonic())
            self.events.write(BEGUN, how=crew.begun)
        except OSError as error:
            reason = cannot_start(error, self.launch.interpreter)
            crew.end(time.monotonic())
            return {"state": "failed", "task": crew.leader.task, "log": "", **reason}
        try:
            self._watch(crew)
        finally:
            crew.end(time.monotonic())
        self._note_memory(crew)
        return blame_disk(crew.conclusion(), self.dir)

    def _loaded(self, *, several: bool) -> bool:
        """Have TensorFlow loaded where processes are to be forked; false where a stop is asked."""
        if self.forks.must_load(several=several):
            self._state("starting", note=LOADS, supervisor_pid=os.getpid())
        self.forks.prepare(self._sleep, self._stop_asked, several=several)
        return not self._stop_asked()

    def _note_memory(self, crew: Crew) -> None:
        if held := crew.peak_bytes:
            self.events.write(PEAK_MEMORY, bytes=held)

    def _rehearsed(self, held_fds: Sequence[int]) -> bool:
        """Do a rehearsal where one is due; return whether the run can begin."""
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

    def _look(self, crew: Crew, now: float) -> None:
        """Tell what has just come about."""
        for change in crew.look(now):
            details = {} if change.name == "recovered" else change.details
            self.events.write(change.name, task=change.task, **details)

    def _watch(self, crew: Crew) -> None:
        running = False
        while not crew.is_over(time.monotonic()):
            self._sleep()
            now = time.monotonic()
            self._look(crew, now)
            if crew.recorded and not running and not crew.stopping:
                running = self._state("running", **self.why_anew) or True
            if self._stop_asked() and not crew.stopping:
                self._state("stopping")
                crew.ask_to_stop(now)
            if task := self._kill_asked():
                self.killed = task
                crew.kill(task)
            crew.press(now)
            self.events.flush()

    def _state(self, state: str, **details: Any) -> bool:
        return self.events.write("state", state=state, **details)

    def _stop_asked(self) -> bool:
        return self.told_to_stop or (self.dir / "stop").exists()

    def _kill_asked(self) -> str:
        """Return the task that is to be killed, once; nothing where none is."""
        asked = self.dir / KILL
        try:
            task = asked.read_text(encoding="utf-8")
            asked.unlink()
        except FileNotFoundError:
            return ""
        return task

    def _stop_by_signal(self) -> None:
        self.told_to_stop = True

    def _sleep(self) -> None:
        if self.copying is not None:
            self.copying.look(time.monotonic())
        select.select([self.woken], [], [], self.bounds.poll_seconds)
        with contextlib.suppress(BlockingIOError):
            os.read(self.woken, 4096)


def main(arguments: Sequence[str] | None = None) -> int:
    """Supervise one run to its end; the exit status tells only whether that could be done."""
    options = _options(arguments)
    if options.detach and os.fork():
        os._exit(0)
    bounds = Bounds(**{name: getattr(options, name) for name in _bounds()})
    try:
        run_dir = options.run_dir.absolute()
        lock_fd = take_lock(run_dir) if options.lock_fd is None else options.lock_fd
        if lock_fd is None:
            raise alive_error(run_dir, "started")
        supervisor = _supervisor_of(run_dir)(run_dir, bounds, lock_fd)
        ticket = supervisor.queue()
    except (RunError, OSError) as error:
        _answer(options.ready_fd, str(error))
        return 1
    _answer(options.ready_fd, "")
    try:
        supervisor.run(ticket)
    except Exception as error:
        supervisor.give_up(error)
        raise
    return 0


def _supervisor_of(run_dir: Path) -> type[Supervisor]:
    config = read_json(run_dir / "config.json")
    if config.get("launcher", "local") == "local":
        return Supervisor
    from .job_supervisor import JobSupervisor

    return JobSupervisor


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m workbench.runs.supervisor")
    parser.add_argument("run_dir", type=Path)
    parser.add_argument("--detach", action="store_true", help="go on as nobody's child")
    parser.add_argument("--lock-fd", type=int, help="the run's lock, held by who starts this")
    parser.add_argument("--ready-fd", type=int, help="where to say that the run is under way")
    for name, default in _bounds().items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, default=default)
    return parser.parse_args(arguments)


def _bounds() -> dict[str, float]:
    return dataclasses.asdict(Bounds())


def _answer(ready_fd: int | None, error: str) -> None:
    if error:
        sys.stderr.write(f"{error}\n")
    if ready_fd is not None:
        with contextlib.suppress(BrokenPipeError):
            os.write(ready_fd, json.dumps({"error": error}).encode())
        os.close(ready_fd)


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


if __name__ == "__main__":
    sys.exit(main())
