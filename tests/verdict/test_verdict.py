"""Verdicts on steps with known parts, and on real runs: one step a call, and a slow worker."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.terminal import Terminal, last_json
from tests.machines import LAPTOP
from tests.runs.run_folders import Runs
from tests.verdict.steps import with_shares
from tests.verdict.verdicts import timed_run, verdict_of, verdict_on
from tests.waiting import LIMIT_SECONDS
from tests.widgets.folders import write_run
from workbench.config import RunConfig
from workbench.runs import RunError, list_runs, open_run, start_run
from workbench.runs.folder.files import StoppedError
from workbench.verdict import judge, try_out
from workbench.verdict.parts import PARTS, Breakdown

OWN = Path(__file__).parent / "own_steps.py"
CHATTY = (
    *("--strategy", "one_device", "--steps-per-call", "1", "--per-replica-batch-size", "16"),
    *("--synthetic-examples", "96", "--epochs", "1", "--start-now"),
)
"""Too few calls for a comparison of their time with a later one, as the machine may be busy."""
WORKERS = RunConfig(
    strategy="multi_worker_mirrored",
    step=f"{OWN}:slow_on_one_worker",
    global_batch_size=16,
    synthetic_examples=640,
    epochs=1,
    start_now=True,
)
TWO = RunConfig(global_batch_size=64, replicas=2)
CROWDED = {
    "input": (0.02, 0.0, 0.156),
    "compute": (0.90, 0.60, 1.0),
    "communication": (0.08, 0.0, 0.314),
    "crowding": (0.288, 0.25, 0.33),
}
INPUT = {"input": (0.6, 0.55, 0.65), "compute": (0.4, 0.35, 0.45)}


def shares(**changed: tuple[float, float, float]) -> Breakdown:
    return with_shares({**CROWDED, **changed})


@pytest.mark.parametrize(
    ("recorded_seconds", "figures", "advice"),
    [
        (0.0169, "took 16.9 ms per step while it trained, and 31.4 ms per step now", "Close other"),
        (
            0.0600,
            "took 60 ms per step while it trained, and 31.4 ms per step now",
            "train again on an idle machine",
        ),
    ],
)
def test_a_measurement_that_does_not_match_the_run_gives_no_verdict(
    recorded_seconds: float, figures: str, advice: str, tmp_path: Path
) -> None:
    run = timed_run(tmp_path)
    assert verdict_of(run, with_shares(INPUT), 0.031).cause == "input"
    found = verdict_of(run, with_shares(INPUT), recorded_seconds)
    assert (found.decided, found.cause, found.suggestion) == (False, None, None)
    assert found.sentence.startswith("No verdict: this measurement does not match the run. ")
    assert figures in found.sentence
    assert advice in found.advice
    assert found.next_seconds == found.seconds


def test_parts_that_may_be_large_leave_the_verdict_open(tmp_path: Path) -> None:
    found = verdict_of(timed_run(tmp_path, TWO), shares())
    assert (found.decided, found.cause, found.suggestion) == (False, None, None)
    assert found.sentence == (
        "No verdict yet: only a part that takes at least 15% of a step is worth a change, and "
        "input (0.0% to 15.6%) and communication (0.0% to 31.4%) may take more or less than that."
    )
    assert found.advice.startswith("Measure longer")
    assert found.next_seconds > found.seconds


def test_replicas_that_slow_each_other_down_are_named_if_nothing_else_is_large(
    tmp_path: Path,
) -> None:
    small = (0.05, 0.0, 0.1)
    run = timed_run(tmp_path, TWO)
    found = verdict_of(run, shares(input=small, communication=small))
    assert (found.decided, found.cause) == (True, "crowding")
    assert found.sentence.startswith(
        "29% of each step is lost because replicas slow each other down"
    )
    assert "the model's own work" not in found.sentence


def test_compute_is_the_answer_only_if_every_other_part_is_surely_small(tmp_path: Path) -> None:
    small, run = (0.05, 0.0, 0.1), timed_run(tmp_path, TWO)
    found = verdict_of(run, shares(input=small, communication=small, crowding=small))
    assert (found.decided, found.cause) == (True, None)
    assert "no other measured part takes 15% or more." in found.sentence


def test_a_run_without_records_is_refused(tmp_path: Path) -> None:
    run = write_run(tmp_path, "stopped", steps=0)
    with pytest.raises(
        RunError, match=r"has recorded no steps, so .*Let it train for a moment first"
    ):
        judge(run)


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("inf"), float("nan")])
def test_a_measurement_needs_some_seconds(seconds: float, tmp_path: Path) -> None:
    with pytest.raises(
        RunError,
        match=r"Cannot measure for .* s\. Give a finite number of seconds above 0, such as 20",
    ):
        judge(write_run(tmp_path), seconds)


def test_asynchronous_workers_have_no_common_step(tmp_path: Path) -> None:
    run = write_run(tmp_path, config=RunConfig(strategy="parameter_server"))
    with pytest.raises(RunError, match="Workers of ParameterServer train asynchronously"):
        judge(run)


@pytest.fixture(scope="module")
def answered(terminal: Terminal) -> dict[str, Any]:
    """The JSON of `why --apply` for a run of one step a call."""
    trained = terminal.type("run", *CHATTY, "--json")
    assert trained.returncode == 0, trained.stderr
    run = last_json(trained)["run"]
    done = terminal.type("why", run, "--seconds", "0.1", "--apply", "--json")
    assert done.returncode == 0, done.stderr
    return dict(last_json(done))


@pytest.mark.slow
def test_every_part_is_timed_and_kept(answered: dict[str, Any], terminal: Terminal) -> None:
    found = answered["breakdown"]
    assert [part["name"] for part in found["parts"]] == ["input", "compute", "host", "recording"]
    assert [part["name"] for part in found["within"]] == ["fixed"]
    assert found["unmeasured"] == {}
    assert found["step"]["low"] <= found["step"]["value"] <= found["step"]["high"]
    assert answered["recorded"]["steps_per_call"] == 1
    kept = json.loads((terminal.runs / answered["run"] / "verdict.json").read_text())
    assert kept == {name: value for name, value in answered.items() if name != "trial"}


@pytest.mark.slow
def test_the_suggestion_is_tried_in_a_separate_run(
    answered: dict[str, Any], terminal: Terminal
) -> None:
    trial, changes = answered["trial"], answered["suggestion"]["changes"]
    before, after = (open_run(trial[side], terminal.runs) for side in ("before", "after"))
    assert before.id == answered["run"]
    assert after.status == "finished"
    assert {name: getattr(after.config, name) for name in changes} == changes
    assert {name: getattr(before.config, name) for name in changes} != changes
    assert trial["rounds"] >= 8
    assert trial["speedup"]["low"] <= trial["speedup"]["value"] <= trial["speedup"]["high"]
    assert json.loads((after.dir / "trial.json").read_text()) == trial
    suggested = json.loads((before.dir / "suggested.json").read_text())
    assert {name: suggested[name] for name in changes} == changes


@pytest.mark.slow
def test_the_worker_that_the_others_wait_for_is_named(runs: Runs) -> None:
    run = start_run(WORKERS, runs.root, LAPTOP, rehearse=False)
    runs.made.append(run)
    assert run.wait(LIMIT_SECONDS) == "finished", run.failure
    found = judge(run, 0.1).breakdown
    assert found.unmeasured == {}
    assert [part.name for part in found.parts] == list(PARTS)
    assert found.slowest is not None
    assert found.slowest.task == "worker-1"


def test_a_stopped_measurement_is_an_error_and_keeps_nothing(tmp_path: Path) -> None:
    run, actions = timed_run(tmp_path), list[str]()
    with pytest.raises(StoppedError, match=r"Stopped before it started\. Ask again"):
        judge(run, 1.0, lambda action, left_seconds: actions.append(action), lambda: True)
    assert actions == ["Timing steps"]
    assert not (run.dir / "verdict.json").exists()


@pytest.mark.slow
def test_a_stopped_trial_stops_its_run(runs: Runs) -> None:
    before = timed_run(runs.root)
    with pytest.raises(StoppedError, match=r"was stopped\. Try it again"):
        try_out(before, verdict_on(before, {"host": 1e-3}), stopped=lambda: True)
    (after,) = (run for run in list_runs(runs.root) if run.id != before.id)
    assert after.status == "stopped"
