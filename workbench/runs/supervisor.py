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
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import locks
from .directory import SCRIPT, TASK, RunError, read_json, sha256
from .events import EventLog
from .failure import cannot_start, explain, log_tail
from .launch import Launch
from .state import alive_error, run_lock
from .trainer import Trainer
from .watchdog import Bounds, Watchdog

if TYPE_CHECKING:
    from .standby import WaitingTrainer

LOG_LINES = 30
LAST_WRITE_SECONDS = 60.0


class Supervisor:
    """One attempt at one run, from the queue to its final state."""

    def __init__(
        self, run_dir: Path, bounds: Bounds, lock_fd: int, waiting: WaitingTrainer | None
    ) -> None:
        self.dir = run_dir
        self.log = run_dir / TASK / "log.txt"
        self.bounds = bounds
        self.lock_fd = lock_fd
        self.waiting = waiting
        self.card = read_json(run_dir / "run.json")
        self.plan = read_json(run_dir / "plan.json")
        self.start_now = bool(read_json(run_dir / "config.json").get("start_now"))
        self.launch = Launch.of(run_dir, self.card, self.plan)
        self.events = EventLog(run_dir / "events.jsonl")
        self.told_to_stop = False
        self.woken = _wake_on_signals(self._stop_by_signal)

    def queue(self) -> locks.Ticket:
        """Write the first event and take a place in the queue for the run's devices."""
        devices = tuple(self.plan.get("physical_devices", ()))
        state = Path(self.card.get("state_dir") or locks.state_dir())
        ticket = locks.Ticket.draw(state, self.dir.name, devices, start_now=self.start_now)
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
            if self.waiting is not None:
                self.waiting.end()
        ticket.give_back()
        deadline = time.monotonic() + LAST_WRITE_SECONDS
        while not self.events.flush() and time.monotonic() < deadline:
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
        script = (self.dir / SCRIPT).read_text(encoding="utf-8")
        self._state("starting", script_sha256=sha256(script), supervisor_pid=os.getpid())
        self.log.parent.mkdir(exist_ok=True)
        log_start = self.log.stat().st_size if self.log.exists() else 0
        total_steps = int(self.plan.get("total_steps", sys.maxsize))
        dog = Watchdog(self.log.parent, self.bounds, total_steps, time.monotonic())
        try:
            locks_held = (self.lock_fd, ticket_fd)
            trainer = Trainer(self.dir, self.launch, self.log, locks_held, self.waiting)
        except OSError as error:
            self._state("failed", task=TASK, log="", **cannot_start(error, self.launch.interpreter))
            return
        self._watch(trainer, dog)
        trainer.kill_group()
        trainer.close()
        dog.look(time.monotonic())
        self._conclude(trainer, dog, log_tail(self.log, LOG_LINES, since=log_start))

    def _watch(self, trainer: Trainer, dog: Watchdog) -> None:
        running = False
        while trainer.process.poll() is None:
            self._sleep()
            now = time.monotonic()
            change = dog.look(now)
            if dog.recorded and not running and not trainer.stopping:
                running = self._state("running") or True
            if change:
                self._tell_of_silence(change, dog)
            if self._stop_asked() and not trainer.stopping:
                self._state("stopping")
                trainer.ask_to_stop(now)
            trainer.press(now, self.bounds, dog)
            self.events.flush()

    def _tell_of_silence(self, change: str, dog: Watchdog) -> None:
        details: dict[str, Any] = {}
        if change == "stalled":
            details = {
                "silent_seconds": round(dog.silent_seconds, 1),
                "limit_seconds": round(dog.limit_seconds, 1),
                "log": log_tail(self.log, LOG_LINES),
            }
        self.events.write(change, task=TASK, **details)

    def _conclude(self, trainer: Trainer, dog: Watchdog, log: str) -> None:
        exit_status = trainer.process.wait()
        names = [event["event"] for event in dog.events]
        ended = [name for name in names if name in ("finished", "stopped")]
        if ended and (exit_status == 0 or trainer.terminated):
            self._state(ended[-1])
        elif trainer.note:
            self._state("stopped", note=trainer.note)
        else:
            reason = explain(exit_status, dog.events, log, self.launch.interpreter)
            self._state("failed", task=TASK, log=log, **reason)

    def _state(self, state: str, **details: Any) -> bool:
        return self.events.write("state", state=state, **details)

    def _stop_asked(self) -> bool:
        return self.told_to_stop or (self.dir / "stop").exists()

    def _stop_by_signal(self) -> None:
        self.told_to_stop = True

    def _sleep(self) -> None:
        select.select([self.woken], [], [], self.bounds.poll_seconds)
        with contextlib.suppress(BlockingIOError):
            os.read(self.woken, 4096)


def main(arguments: Sequence[str] | None = None, waiting: WaitingTrainer | None = None) -> int:
    """Supervise one run to its end; the exit status tells only whether that could be done."""
    options = _options(arguments)
    if options.detach and os.fork():
        os._exit(0)
    bounds = Bounds(**{name: getattr(options, name) for name in _bounds()})
    try:
        run_dir = options.run_dir.absolute()
        lock_fd = locks.take(run_lock(run_dir)) if options.lock_fd is None else options.lock_fd
        if lock_fd is None:
            raise alive_error(run_dir, "started")
        supervisor = Supervisor(run_dir, bounds, lock_fd, waiting)
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
