"""Whether two runs trained the same: told from their records, step by step."""

import numpy as np
import pytest

from tests.runs.folder import Runs
from workbench.experiments.agreement import TOLERANCE, compare
from workbench.runs import Run


@pytest.fixture
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(tmp_path_factory.mktemp("runs"))


def finished(runs: Runs, **options: object) -> Run:
    run = runs.start(**options, start_now=True)
    assert run.wait(30) == "finished"
    return run


def raised_from(step: int, by: float) -> dict[str, str]:
    """What makes the trainer's losses larger from a step on."""
    raised = f"lambda s, r, usual=loss: usual(s, r) + float('{by}')"
    return {str(step): f"globals().update(loss={raised})"}


def test_runs_of_the_same_losses_agree(runs: Runs) -> None:
    found = compare(finished(runs), finished(runs), "float32")
    assert found.holds
    assert found.steps == 60
    assert found.max_loss_difference == 0.0


def test_the_first_step_that_differs_by_more_than_rounding_is_named(runs: Runs) -> None:
    found = compare(finished(runs, code=raised_from(20, 0.5)), finished(runs), "float32")
    assert not found.holds
    assert found.reason == "loss differs by 5.0e-01, first at step 20"
    assert found.max_loss_difference == pytest.approx(0.5, abs=1e-4)


def test_a_loss_that_is_no_number_never_agrees(runs: Runs) -> None:
    found = compare(finished(runs, code=raised_from(20, float("nan"))), finished(runs), "float32")
    assert not found.holds
    assert np.isnan(found.max_loss_difference)


def test_runs_of_different_steps_cannot_be_compared(runs: Runs) -> None:
    found = compare(finished(runs, steps=30), finished(runs), "float32")
    assert found.reason == "30 steps recorded, the standard has 60"


def test_double_precision_is_held_to_more(runs: Runs) -> None:
    assert TOLERANCE["float64"] < TOLERANCE["float32"]
