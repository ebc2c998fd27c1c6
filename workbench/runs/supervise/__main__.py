"""`python -m workbench.runs.supervise RUN_DIR` supervises one run to its end."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from workbench.fields import LOCAL
from workbench.runs.folder.files import RunError
from workbench.runs.folder.plan import read_plan
from workbench.runs.folder.state import alive_error, take_lock
from workbench.runs.processes.bounds import Bounds

from .supervisor import Supervisor


def main(arguments: Sequence[str] | None = None) -> int:
    """Supervise one run to its end; the exit status shows only whether that could be done."""
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
    if read_plan(run_dir).config.launcher == LOCAL:
        return Supervisor
    from .job_supervisor import JobSupervisor  # the engines take a moment to import

    return JobSupervisor


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m workbench.runs.supervise")
    parser.add_argument("run_dir", type=Path)
    parser.add_argument("--detach", action="store_true", help="detach from the caller")
    parser.add_argument("--lock-fd", type=int, help="the run's lock, held by the caller")
    parser.add_argument("--ready-fd", type=int, help="the pipe that reports the start")
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


if __name__ == "__main__":
    sys.exit(main())
