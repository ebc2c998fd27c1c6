"""Runs that are alive: written ones whose lock a test holds, and real ones."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.waiting import LIMIT_SECONDS
from workbench import RunConfig, start_run
from workbench.runs import Run
from workbench.runs.folder import locks
from workbench.runs.folder.state import LIVE, run_lock

LONG = RunConfig(strategy="one_device", epochs=1, steps_per_epoch=10_000_000)


@contextmanager
def alive(run: Run) -> Iterator[None]:
    """Keep a run alive by holding its lock."""
    lock = locks.take(run_lock(run.dir))
    assert lock is not None
    yield
    os.close(lock)


@contextmanager
def trained(root: Path) -> Iterator[Run]:
    """Start a real run, and stop it at the end."""
    run = start_run(LONG, root, name="A long run")
    try:
        yield run
    finally:
        if run.status in LIVE:
            run.stop()
            run.wait(LIMIT_SECONDS)
