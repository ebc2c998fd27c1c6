"""The budget of a comparison counts the parts of runs that were trained before a stop."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.experiments.written import write_comparison
from workbench.experiments import Comparison
from workbench.experiments.queueing.queue import Queue, seconds_of
from workbench.runs.folder.files import json_text


def stopped_comparison(root: Path, budget_seconds: float) -> Queue:
    """Return the queue of a comparison that was stopped during its first run, after 17.8 s."""
    comparison = write_comparison(root, {"OneDevice": (1000.0,), "Mirrored x 2": ()}, "stopped")
    asked = comparison.folder / "compare.json"
    values = json.loads(asked.read_text()) | {"budget_seconds": budget_seconds}
    asked.write_text(json_text(values))
    events = comparison.folder / "queue.jsonl"
    lines = events.read_text().splitlines(keepends=True)
    events.write_text("".join(line for line in lines if '"ended"' not in line))
    run_events = comparison.run(comparison.trials[0]).dir / "events.jsonl"
    written = [json.loads(line) for line in run_events.read_text().splitlines()]
    (begun,) = (event["time"] for event in written if event.get("state") == "starting")
    for event in written:
        if event.get("state") == "finished":
            event |= {"state": "stopped", "time": begun + 17.8}
    run_events.write_text("".join(json.dumps(event) + "\n" for event in written))
    return Queue(Comparison(comparison.folder))


def test_a_stopped_run_that_spent_the_budget_is_not_resumed(tmp_path: Path) -> None:
    queue = stopped_comparison(tmp_path, budget_seconds=10)
    run = queue.comparison.run(queue.comparison.trials[0])
    assert seconds_of(run) == pytest.approx(17.8)
    for candidate in (0, 1):
        queue._train(0, candidate)
    spent = "the budget of 10 s is spent"
    assert queue.comparison.left_out == {0: spent, 1: spent}
    assert len(queue.comparison.trials) == 1
    (ended,) = [each for each in queue.comparison.events if each["event"] == "ended"]
    assert (ended["run"], ended["status"]) == (run.id, "stopped")
    assert ended["seconds"] == pytest.approx(17.8)


def test_the_rest_of_a_stopped_run_may_take_the_rest_of_the_budget(tmp_path: Path) -> None:
    queue = stopped_comparison(tmp_path, budget_seconds=20)
    before = seconds_of(queue.comparison.run(queue.comparison.trials[0]))
    assert queue._affordable(0, before)
    assert not queue._affordable(0, 20.0)
