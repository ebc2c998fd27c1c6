"""The queue of a comparison: real runs in turn. It is stopped, killed and resumed."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.machines import LAPTOP
from tests.runs.run_folders import event_of
from tests.waiting import LIMIT_SECONDS, until
from workbench.config import RunConfig
from workbench.experiments import (
    Candidate,
    Comparison,
    candidates,
    groups_of,
    make_table,
    recommend,
    start_comparison,
)
from workbench.runs import RunError, list_runs
from workbench.widgets.comparison.origin import refuse_foreign

CONFIG = RunConfig(epochs=1, steps_per_epoch=60, global_batch_size=64)
LONG = RunConfig(epochs=1, steps_per_epoch=10_000_000, global_batch_size=64)


def started(root: Path, config: RunConfig, **options: object) -> Comparison:
    found = candidates(config, {"strategy": ["one_device", "mirrored", "tpu"]}, LAPTOP)
    return start_comparison(found, LAPTOP, root, **options)


def queue_pid(comparison: Comparison) -> int:
    return int(until(lambda: [event["pid"] for event in comparison.events if "pid" in event])[-1])


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A folder of runs. Processes that a failed test leaves in it are stopped."""
    yield tmp_path
    for folder in tmp_path.glob("compare-*"):
        if Comparison(folder).alive:
            os.kill(queue_pid(Comparison(folder)), signal.SIGKILL)
        for run in list_runs(folder):
            run.stop()
            run.wait(LIMIT_SECONDS)


@pytest.mark.slow
def test_each_round_trains_all_candidates_and_begins_with_another_one(root: Path) -> None:
    comparison = started(root, CONFIG, repeats=1)
    with pytest.raises(RunError, match=r"cannot train more runs: it is running\. It must be over"):
        comparison.repeat(2)
    assert comparison.wait(LIMIT_SECONDS) == "finished"
    with pytest.raises(RunError, match="already has 1 runs of each candidate, so 1 adds none"):
        comparison.repeat(1)
    comparison.repeat(2)
    refuse_foreign(comparison)
    assert comparison.wait(LIMIT_SECONDS) == "finished"
    order = [(trial.round, trial.candidate) for trial in comparison.trials]
    assert order == [(0, 0), (0, 1), (1, 1), (1, 0)]
    assert (comparison.ended, comparison.planned, comparison.eta_seconds) == (4, 4, 0.0)
    names = {comparison.run(trial).name for trial in comparison.trials}
    assert {"OneDevice", "Mirrored x 2, 2 of 2"} <= names
    begun = [event_of(comparison.run(trial), "begun") for trial in comparison.trials]
    assert [event and event["how"] for event in begun] == [{"worker-0": "forked"}] * 4
    groups = groups_of(comparison)
    assert [group.runs_left for group in groups] == [0, 0, 0]
    rows = make_table(groups).rows
    assert [len(row.runs) for row in rows] == [2, 2, 0]
    assert all(row.examples_per_second for row in rows[:2])
    assert rows[1].max_loss_difference < 1e-6
    assert "no TPU here" in rows[2].notes[0]
    with pytest.raises(RunError, match=r"is finished, so there is nothing to resume\. Start a new"):
        comparison.resume()


@pytest.mark.promise
@pytest.mark.slow
def test_a_stopped_or_killed_comparison_continues_with_the_run_that_it_finds(root: Path) -> None:
    comparison = started(root, LONG, repeats=1)
    run = comparison.run(until(lambda: comparison.trials)[0])
    until(lambda: run.progress.step > 0)
    comparison.stop()
    assert comparison.wait(LIMIT_SECONDS) == "stopped"
    assert run.status == "stopped"
    assert [group.runs_left for group in groups_of(comparison)] == [1, 1, 0]
    before = run.progress.step
    refuse_foreign(comparison)
    comparison.resume()
    with pytest.raises(RunError, match="is still running"):
        comparison.resume()
    until(lambda: run.progress.step > before)
    psutil.Process(queue_pid(comparison)).kill()
    until(lambda: comparison.state == "lost")
    assert run.alive
    comparison.resume()
    assert [trial.run for trial in comparison.trials] == [run.id]
    comparison.stop()
    assert comparison.wait(LIMIT_SECONDS) == "stopped"
    with (run.dir / "train.py").open("a") as script:
        script.write("# more")
    with pytest.raises(RunError, match=f"{run.id} of {comparison.folder.name} was not started"):
        refuse_foreign(comparison)


@pytest.mark.slow
def test_a_budget_ends_the_run_that_exceeds_it_and_reports_the_candidates_left_out(
    root: Path,
) -> None:
    comparison = started(root, LONG, repeats=3, budget_seconds=2)
    assert comparison.wait(LIMIT_SECONDS) == "finished"
    assert comparison.left_out[0] == "its run was stopped when the budget was spent"
    assert comparison.left_out[1] == "the budget of 2 s is spent"
    table = make_table(groups_of(comparison))
    assert table.baseline is None
    assert [len(row.runs) for row in table.rows] == [1, 0, 0]
    sentence = recommend(groups_of(comparison)).sentence
    assert "OneDevice: its run was stopped when the budget was spent. Mirrored x 2: the" in sentence


def test_a_comparison_without_a_possible_candidate_does_not_start(root: Path) -> None:
    with pytest.raises(RunError, match=r"No candidate can run here:\n  tpu: no TPU here"):
        start_comparison([Candidate("tpu", CONFIG, "no TPU here")], LAPTOP, root)
    assert not list(root.iterdir())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"repeats": 0}, "repeats must be 1 or more; received 0. 3 or more give intervals."),
        ({"budget_seconds": 0.0}, "budget_seconds must be above 0; received 0.0."),
        ({"target_accuracy": 90}, "target_accuracy must be above 0 and at most 1; received 90."),
        ({"drop_below": 1.0}, "drop_below must be at least 0 and below 1; received 1.0."),
    ],
)
def test_numbers_outside_their_ranges_are_refused(
    options: dict[str, float], message: str, root: Path
) -> None:
    with pytest.raises(RunError, match=message):
        started(root, CONFIG, **options)
    assert not list(root.iterdir())
