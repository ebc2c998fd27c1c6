"""The candidates that a queue does not repeat; all runs that it would begin are already there."""

import shutil
from pathlib import Path

import pytest

from tests.experiments.written import write_comparison
from workbench.experiments import Comparison
from workbench.experiments.queueing.queue import Queue

FASTEST = (1000.0, 1000.0, 1000.0)


def left_out(comparison: Comparison) -> dict[int, str]:
    """Return what the queue left out at its end."""
    assert Queue(comparison).run() == "finished"
    return comparison.left_out


def test_a_candidate_far_behind_the_best_gets_no_more_runs(tmp_path: Path) -> None:
    rates = {"OneDevice": FASTEST, "Mirrored x 2": (490.0,)}
    comparison = write_comparison(tmp_path, rates, drop_below=0.5)
    assert left_out(comparison) == {1: "it has 49% of the speed of the fastest"}
    assert (comparison.ended, comparison.planned) == (4, 4)


def test_the_first_candidate_can_be_far_behind_too(tmp_path: Path) -> None:
    rates = {"OneDevice": (200.0,), "Mirrored x 2": FASTEST}
    comparison = write_comparison(tmp_path, rates, drop_below=0.5)
    assert left_out(comparison) == {0: "it has 20% of the speed of the fastest"}


@pytest.mark.parametrize(
    ("rates", "drop_below"),
    [
        ((510.0, 510.0, 510.0), 0.5),
        ((510.0, 400.0, 400.0), 0.5),
        ((10.0, 10.0, 10.0), 0.0),
    ],
    ids=["it is near enough", "its best run is near enough", "none is to be dropped"],
)
def test_other_candidates_are_repeated(
    rates: tuple[float, ...], drop_below: float, tmp_path: Path
) -> None:
    runs = {"OneDevice": FASTEST, "Mirrored x 2": rates}
    comparison = write_comparison(tmp_path, runs, drop_below=drop_below)
    assert left_out(comparison) == {}


def test_an_unknown_speed_is_not_a_slow_one(tmp_path: Path) -> None:
    rates = {"OneDevice": FASTEST, "Mirrored x 2": (None, None, None)}
    comparison = write_comparison(tmp_path, rates, drop_below=0.5)
    assert left_out(comparison) == {}


def test_a_deleted_run_says_nothing_about_its_candidate(tmp_path: Path) -> None:
    rates = {"OneDevice": FASTEST, "Mirrored x 2": (100.0, 1000.0, 1000.0)}
    comparison = write_comparison(tmp_path, rates, drop_below=0.5)
    slow = next(trial for trial in comparison.trials if trial.candidate == 1)
    shutil.rmtree(comparison.folder / slow.run)
    assert left_out(comparison) == {}
