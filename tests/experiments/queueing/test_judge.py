"""The results of a matrix's cells, from written runs: what agrees, and with what."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.experiments.timed_runs import ONE, TWO, timed_run
from tests.experiments.written import write_matrix, write_request
from workbench.experiments import Candidate, Cell, Comparison
from workbench.experiments.cells import cells_of
from workbench.experiments.queueing.judge import judge
from workbench.experiments.queueing.queue import MatrixQueue

DOUBLE = [replace(each, precision="float64") for each in (ONE, TWO)]
CONFIGS = [DOUBLE[0], ONE, DOUBLE[1], TWO]
"""OneDevice and Mirrored, each in double and in single precision."""
REFERENCE, MIRRORED = 0, 2


def trained(
    folder: Path, losses: Mapping[int, float], left_out: Mapping[int, str] | None = None
) -> Comparison:
    """Return a matrix in which candidates have finished runs with these losses."""
    runs = [(at, timed_run(folder, CONFIGS[at], 1000.0, loss=loss).id)
            for at, loss in losses.items()]  # fmt: skip
    candidates = [Candidate(each.precision, each) for each in CONFIGS]
    out = [{"event": "left_out", "candidate": at, "reason": why}
           for at, why in (left_out or {}).items()]  # fmt: skip
    return write_request(folder, candidates, runs, results=out, agreement=True)


def test_a_cell_agrees_in_double_precision_and_shows_the_difference_in_single(
    tmp_path: Path,
) -> None:
    matrix = trained(tmp_path, {0: 1.0, 1: 1.0, 2: 1.0, 3: 1.5})
    ((_, found),) = judge(matrix, 3)
    assert (found["candidate"], found["status"], found["reason"]) == (MIRRORED, "pass", "")
    assert (found["max_loss_difference"], found["float32_loss_difference"]) == (0.0, 0.5)
    assert found["steps_per_second"] == pytest.approx(1000 / 64)


def test_another_loss_fails_its_cell(tmp_path: Path) -> None:
    matrix = trained(tmp_path, {0: 1.0, 1: 1.0, 2: 1.25, 3: 1.0})
    ((_, found),) = judge(matrix, MIRRORED)
    assert (found["status"], found["max_loss_difference"]) == ("fail", 0.25)
    assert found["reason"] == "loss differs by 2.5e-01, first at step 1"


def test_a_cell_is_judged_once_all_its_runs_are_over(tmp_path: Path) -> None:
    assert list(judge(trained(tmp_path, {0: 1.0, 1: 1.0, 2: 1.0}), MIRRORED)) == []


@pytest.mark.parametrize(
    ("losses", "left_out", "why"),
    [
        ({0: 1.0, 2: 1.0, 3: 1.0}, {1: "worker-0: out of memory"}, "worker-0: out of memory"),
        ({1: 1.0, 2: 1.0, 3: 1.0}, {}, "its run is not finished"),
    ],
    ids=["left out", "deleted"],
)
def test_a_cell_without_a_complete_reference_names_it(
    losses: dict[int, float], left_out: dict[int, str], why: str, tmp_path: Path
) -> None:
    ((_, found),) = judge(trained(tmp_path, losses, left_out), MIRRORED)
    assert found["reason"] == f"OneDevice, the reference, did not train: {why}"


def test_a_cell_fails_if_its_run_in_single_precision_failed(tmp_path: Path) -> None:
    matrix = trained(tmp_path, {0: 1.0, 1: 1.0, 2: 1.0}, {3: "worker-0: killed"})
    mirrored = cells_of(matrix)[1]
    assert (mirrored.strategy, mirrored.status) == ("mirrored", "fail")
    assert mirrored.reason == "worker-0: killed"


def test_a_cell_whose_weights_were_not_compared_has_not_passed(tmp_path: Path) -> None:
    passed = Cell("one_device", "custom", "pass", max_loss_difference=0.0)
    matrix = write_matrix(tmp_path, "matrix-20260101-000000-abcd", [passed])
    events = matrix.folder / "queue.jsonl"
    lines = events.read_text().splitlines(keepends=True)
    events.write_text("".join(line for line in lines if "certified" not in line))
    assert MatrixQueue(matrix).run() == "finished"
    (cell,) = cells_of(matrix)
    assert (cell.status, cell.reason) == ("stopped", "its weights were not compared")
