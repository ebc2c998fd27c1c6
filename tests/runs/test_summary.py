"""The summary of a run: it equals the result."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.runs.records.written_run import WrittenRun
from tests.widgets.folders import write_run
from workbench import RunConfig
from workbench.cli.watching import table
from workbench.runs import Run, RunError
from workbench.runs.folder.state import Status
from workbench.runs.listing import Unreadable, summary_in_list

LED = RunConfig(strategy="parameter_server", workers=2, per_replica_batch_size=16, evaluator=True)


@pytest.mark.parametrize("steps", [0, 100, 156])
def test_the_summary_equals_the_result(steps: int, tmp_path: Path) -> None:
    run = write_run(tmp_path, "stopped", steps)
    summary, result = run.summary, run.result()
    assert (summary.status, summary.progress.step) == (result["status"], result["steps"])
    assert summary.results["test_accuracy"] == result["test_accuracy"]
    assert summary.examples_per_second == result["examples_per_second"]
    assert summary.plan == run.plan
    assert (summary.made_of["model"], summary.made_of["batch"]) == ("mlp", "128")


@pytest.mark.parametrize(
    ("status", "actions"),
    [
        *((status, ["stop"]) for status in ("queued", "starting", "running")),
        ("stopping", []),
        ("finished", ["train_on", "delete"]),
        *((status, ["resume", "delete"]) for status in ("stopped", "failed", "lost")),
    ],
)
def test_the_state_decides_which_actions_a_run_allows(
    status: Status, actions: list[str], tmp_path: Path
) -> None:
    assert replace(write_run(tmp_path).summary, status=status).actions == actions


def test_a_run_that_cannot_be_read_has_its_reason_in_a_list(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    (run.dir / "plan.json").write_text("{")
    listed = summary_in_list(run)
    assert isinstance(listed, Unreadable)
    assert (listed.status, listed.alive, listed.actions) == ("unreadable", False, ["delete"])
    assert "plan.json" in listed.to_json()["error"]


def test_the_accuracy_is_from_the_last_epoch_of_any_task(tmp_path: Path) -> None:
    run = write_run(tmp_path, config=LED, steps=0)
    append_event(run, "chief-0", event="epoch", epoch=1, step=39, worker_steps={})
    append_event(run, "chief-0", event="epoch", epoch=2, step=78, worker_steps={})
    append_event(run, "evaluator-0", event="evaluated", epoch=1, step=39, test_accuracy=0.5)
    assert run.summary.results["test_accuracy"] is None
    append_event(run, "evaluator-0", event="evaluated", epoch=2, step=78, test_accuracy=0.75)
    assert run.summary.results["test_accuracy"] == run.result()["test_accuracy"] == 0.75
    assert run.plan.who_trains == "2 workers x 1 replica"


def test_a_custom_metric_replaces_an_unknown_accuracy(tmp_path: Path) -> None:
    run = write_run(tmp_path, steps=0)
    metrics = {"accuracy": 0.5, "test_accuracy": 0.25}
    append_event(
        run, "worker-0", event="epoch", epoch=1, step=78, test_accuracy=None, metrics=metrics
    )
    assert run.summary.results["test_accuracy"] == run.result()["test_accuracy"] == 0.25


@pytest.mark.parametrize("value", ["0.9", [1], float("nan"), None])
def test_a_value_that_is_not_a_number_is_unknown(value: object, tmp_path: Path) -> None:
    run = write_run(tmp_path, steps=0)
    append_event(run, "worker-0", event="epoch", epoch=1, step=78, test_accuracy=value)
    assert run.summary.results["test_accuracy"] is None
    assert len(table([run]).splitlines()) == 2


def test_a_missing_field_of_a_plan_is_named(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    plan = json.loads((run.dir / "plan.json").read_text())
    del plan["data"]
    (run.dir / "plan.json").write_text(json.dumps(plan))
    lacks = r"lacks fields of a plan: data\. Open the run with the release"
    with pytest.raises(RunError, match=lacks):
        _ = run.summary


@pytest.mark.parametrize("asked", ["summary", "result()"])
def test_summary_and_result_do_not_import_pandas(asked: str, tmp_path: Path) -> None:
    run = write_run(tmp_path)
    code = (
        f"import sys; from workbench import open_run; open_run({str(run.dir)!r}).{asked}; "
        "assert 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_seconds_of_all_attempts_are_added_without_the_queue(tmp_path: Path) -> None:
    run = write_run(tmp_path, steps=0)
    times = {"queued": 0, "starting": 10, "running": 12, "finished": 15}
    events = [{"time": 1000 + at, "event": "state", "state": state} for state, at in times.items()]
    again = [{**event, "time": event["time"] + 100} for event in events]
    for lines, seconds in ((events, 5.0), (events[:1], None), ([*events[:3], *again], 7.0)):
        (run.dir / "events.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        (run.dir / "worker-0" / "events.jsonl").write_text("")
        assert run.summary.seconds == seconds


@pytest.mark.parametrize("ahead", [600.0, -600.0, 0.0])
def test_steps_and_seconds_are_right_if_the_clock_of_a_host_is_not(
    tmp_path: Path, ahead: float
) -> None:
    run = write_run(tmp_path, steps=0)
    for folder in (run.dir, run.dir / "worker-0"):
        (folder / "events.jsonl").write_text("")
    written = WrittenRun(run)
    written.state("starting", at=1)
    written.silence("clock_differs", at=2, ahead_seconds=ahead)
    written.ahead_seconds = ahead
    written.event("start", at=6, step=0)
    written.event("epoch", at=12, epoch=1, step=39)
    assert run.summary.progress.step == 39
    assert run.summary.seconds == pytest.approx(11.0)


def append_event(run: Run, task: str, **event: object) -> None:
    """Append an event to the events of a task."""
    (run.dir / task).mkdir(exist_ok=True)
    with (run.dir / task / "events.jsonl").open("a") as file:
        file.write(json.dumps({"time": 1e12, **event}) + "\n")
