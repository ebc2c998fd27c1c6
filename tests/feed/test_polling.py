"""How often the summary of a run is read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.widgets.folders import write_run
from workbench.feed import RunFeed, parts_of, polling
from workbench.feed.polling import POLL_SECONDS, Polling
from workbench.runs import Run, Summary
from workbench.runs.folder.state import take_lock


@pytest.fixture
def feed(tmp_path: Path) -> Iterator[RunFeed]:
    """The feed of a run that is alive."""
    run = write_run(tmp_path, "running", steps=20)
    lock = take_lock(run.dir)
    assert lock is not None
    yield RunFeed(run)
    os.close(lock)


@pytest.mark.parametrize(
    ("seconds", "processor_seconds", "interval_seconds"),
    [(0.01, 0.01, POLL_SECONDS), (0.1, 0.1, 3.0), (0.16, 0.01, POLL_SECONDS), (2.0, 0.01, 6.0)],
    ids=["quick", "long", "waits for the processor", "waits for the disk"],
)
def test_a_summary_takes_a_small_part_of_the_processor_and_a_third_of_the_time(
    seconds: float,
    processor_seconds: float,
    interval_seconds: float,
    feed: RunFeed,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = SimpleNamespace(now=100.0, worked=0.0)

    def timed(run: Run, summary: Summary) -> dict[str, Any]:
        clock.now += seconds
        clock.worked += processor_seconds
        return parts_of(run, summary)

    monkeypatch.setattr(polling, "parts_of", timed)
    times = SimpleNamespace(monotonic=lambda: clock.now, thread_time=lambda: clock.worked)
    monkeypatch.setattr(polling, "time", times)
    polls = Polling(feed)
    assert polls.poll(watched=True).summary is not None
    clock.now = 100.0 + interval_seconds - 0.001
    assert polls.poll(watched=True).summary is None
    clock.now = 100.0 + interval_seconds
    assert polls.poll(watched=True).summary is not None
