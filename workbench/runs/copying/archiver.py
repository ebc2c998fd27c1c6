"""The process that copies a run to its archive during the run, and once more after its end.

It needs only the standard library. The supervisor starts it, and holds the other end of its
standard input. No one waits for this process. The process does not wait for a copy that hangs: a
thread makes the copy, and the run's archive.jsonl records the delay.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench import flock
from workbench.runs.copying.copies import COPY_EVENTS
from workbench.runs.folder.archive import archive_of, fix_of
from workbench.runs.folder.checkpoints import FOLDER, STATE
from workbench.runs.folder.events import EventLog, read_events
from workbench.runs.folder.files import RunError
from workbench.runs.folder.state import run_lock
from workbench.runs.processes.bounds import Bounds
from workbench.runs.processes.environment import PACKAGE_ROOT, SUPERVISOR_LOG

from .mirror import TEMPORARY, GoneError, Mirror

NICENESS = 10
AGAIN_SECONDS = 30.0
"""From the last start of a copying process that has died until it is started again."""

GIVEN_UP = (
    "The run is over, so copying is not tried again. Resume the run, or pack it and take the "
    "file with you."
)


class Copying:
    """The copying process in its supervisor."""

    def __init__(self, run_dir: Path, bounds: Bounds) -> None:
        self.run_dir, self.bounds = run_dir, bounds
        self._process: subprocess.Popen[bytes] | None = None
        self._tried_at = -AGAIN_SECONDS

    def poll(self, now: float) -> None:
        """Start the process if it does not run."""
        alive = self._process is not None and self._process.poll() is None
        if alive or now - self._tried_at < AGAIN_SECONDS:
            return
        self._tried_at = now
        with contextlib.suppress(OSError):
            self._process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "workbench.runs.copying.archiver", str(self.run_dir)]
        command += ["--supervisor", str(os.getpid())]
        for name in ("every", "slow", "last"):
            command += [f"--{name}", str(getattr(self.bounds, f"archive_{name}_seconds"))]
        with (self.run_dir / SUPERVISOR_LOG).open("ab") as log:
            return subprocess.Popen(
                command, cwd=PACKAGE_ROOT, stdin=subprocess.PIPE, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip


class Pass:
    """One update of the copy, in a separate thread."""

    def __init__(self, mirror: Mirror, *, last: bool) -> None:
        self.began_at = time.monotonic()
        self.last = last
        self.step = 0
        self.error: Exception | None = None
        self._mirror = mirror
        self._thread = threading.Thread(target=self._body, daemon=True)
        self._thread.start()

    @property
    def over(self) -> bool:
        return not self._thread.is_alive()

    def _body(self) -> None:
        try:
            self.step = self._mirror.update()
        except Exception as error:
            self.error = error


class Archiver:
    """The loop that copies until the run is over and its last copy is complete."""

    def __init__(self, run_dir: Path, folder: Path, options: argparse.Namespace) -> None:
        self.run_dir, self.folder, self.options = run_dir, folder, options
        self.events = EventLog(run_dir / COPY_EVENTS)
        self.mirror = Mirror(run_dir, folder)
        self.lock = run_lock(run_dir)
        self.over_since: float | None = None
        self._alone = False
        """Whether its supervisor has ended."""
        self._under_way: Pass | None = None
        self._due_at = 0.0
        self._saved: tuple[int, int] | None = None
        """Time and inode of the newest checkpoint list when the last copy began."""
        self._last_event: tuple[Any, ...] = ()

    def run(self) -> None:
        """Copy until there is nothing left to copy, or until a copy has no more use."""
        while not self._turn(time.monotonic()):
            self._sleep()
        if self._last_event[:1] == ("unarchived",) and self._too_late(time.monotonic()):
            self._write("unarchived", cause=self._last_event[1], fix=GIVEN_UP)

    def _turn(self, now: float) -> bool:
        """Check the current copy, or start a copy that is due; return whether all is done."""
        if self.over_since is None and self._is_over():
            self.over_since, self._due_at = now, now
        if self.over_since is not None and self._taken_over():
            return True
        done = self._under_way
        if done is not None:
            if not done.over:
                self._record_delay(done, now)
                return self._too_late(now)
            self._under_way = None
            late = self.over_since is not None and not done.last
            self._due_at = now if late else now + self.options.every
            if isinstance(done.error, GoneError):
                return True
            self._record(done)
            if done.last and done.error is None:
                return True
        if self._is_due(now):
            self._saved = self._newest()
            self._under_way = Pass(self.mirror, last=self.over_since is not None)
        return self._too_late(now)

    def _is_due(self, now: float) -> bool:
        working = not self._last_event or self._last_event[0] == "archived"
        return now >= self._due_at or (working and self._newest() != self._saved)

    def _newest(self) -> tuple[int, int] | None:
        with contextlib.suppress(OSError):
            found = (self.run_dir / FOLDER / STATE).stat()
            return found.st_mtime_ns, found.st_ino
        return None

    def _is_over(self) -> bool:
        """Return whether supervisor and tasks have all ended."""
        with contextlib.suppress(OSError):
            return self._alone and not flock.held(self.lock)
        return False

    def _taken_over(self) -> bool:
        """Return whether the run was resumed by another supervisor, which has it copied itself."""
        starts = [e for e in read_events(self.run_dir / "events.jsonl") if "supervisor_pid" in e]
        return bool(starts) and starts[-1]["supervisor_pid"] != self.options.supervisor

    def _too_late(self, now: float) -> bool:
        return self.over_since is not None and now - self.over_since > self.options.last

    def _record(self, done: Pass) -> None:
        if done.error is None:
            self._write("archived", step=done.step, whole=done.last)
            return
        error = done.error
        if isinstance(error, OSError):
            named = str(error.filename or self.folder)
            where = self.folder if TEMPORARY in named else named
            cause = f"{where}: {error.strerror or error}"
            self._write("unarchived", cause=cause, fix=fix_of(error, self.folder))
        elif isinstance(error, RunError):
            self._write("unarchived", cause=str(error), fix="Fix that file.")
        else:
            cause = f"{type(error).__name__}: {error}"
            self._write("unarchived", cause=cause, fix="Fix this error.")

    def _record_delay(self, under_way: Pass, now: float) -> None:
        seconds = self.options.slow
        if now - under_way.began_at > seconds:
            cause = f"copying to {self.folder} has taken more than {seconds:g} s"
            self._write("unarchived", cause=cause, fix="Check its disk or its network.")

    def _write(self, name: str, **values: Any) -> None:
        """Write an event, unless it repeats the last one."""
        event = (name, *values.values())
        if event != self._last_event:
            self._last_event = event
            self.events.write(name, folder=str(self.folder), **values)

    def _sleep(self) -> None:
        seconds = min(0.5, self.options.every / 2)
        if self._alone:
            time.sleep(seconds)
        else:
            self._alone = bool(select.select([0], [], [], seconds)[0])


def main(arguments: Sequence[str] | None = None) -> int:
    """Copy a run until it is over."""
    parser = argparse.ArgumentParser(prog="python -m workbench.runs.copying.archiver")
    parser.add_argument("run_dir", type=Path)
    parser.add_argument("--supervisor", type=int, required=True, metavar="PID")
    bounds = Bounds()
    for name in ("every", "slow", "last"):
        default = getattr(bounds, f"archive_{name}_seconds")
        parser.add_argument(f"--{name}", type=float, default=default, metavar="SECONDS")
    options = parser.parse_args(arguments)
    os.nice(NICENESS)
    folder = archive_of(options.run_dir)
    if folder is not None:
        Archiver(options.run_dir, folder, options).run()
    sys.stderr.flush()
    os._exit(0)  # does not wait for a copy that hangs


if __name__ == "__main__":
    main()
