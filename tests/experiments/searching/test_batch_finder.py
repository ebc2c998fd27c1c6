"""The batch finder on real scripts: memory or data ends the search, and wrong input is refused."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from tests.machines import LAPTOP
from workbench.config import RunConfig
from workbench.experiments.searching.batch_finder import find_batch_size
from workbench.experiments.searching.results import NOTCH, BatchProgress, FoundBatch
from workbench.plan import PlanError
from workbench.runs import RunError
from workbench.runs.supervise.queue import Ticket

WIDE = f"{Path(__file__).parents[2] / 'benchmarks' / 'batch_models.py'}:sixty_four_mib"
ROOM_MIB = 500
"""Room for a few more examples than one; each example takes 200 MiB."""


@pytest.fixture(scope="module")
def limit_mib() -> int:
    """The memory of a process with one example, which differs by machine, and some more room."""
    config = RunConfig(strategy="one_device", model=WIDE, synthetic_examples=1)
    (only,) = find_batch_size(config, devices=LAPTOP).trials
    assert only.peak_mib is not None
    return round(only.peak_mib) + ROOM_MIB


@pytest.fixture(scope="module")
def reports() -> list[BatchProgress]:
    """The progress reports of the search that memory ends."""
    return []


@pytest.fixture(scope="module")
def found(reports: list[BatchProgress], limit_mib: int) -> FoundBatch:
    """A search that memory ends."""
    config = RunConfig(strategy="one_device", model=WIDE, synthetic_examples=64)
    return find_batch_size(config, limit_mib, devices=LAPTOP, on_progress=reports.append)


@pytest.mark.slow
def test_the_largest_size_that_fits_is_below_a_size_that_does_not(
    found: FoundBatch, limit_mib: int
) -> None:
    largest = found.largest_per_replica_batch_size
    failing = [each for each in found.trials if not each.fits]
    assert found.ended == "memory"
    assert largest == max(each.per_replica_batch_size for each in found.trials if each.fits)
    smallest = min(each.per_replica_batch_size for each in failing)
    assert largest < smallest <= max(NOTCH * largest, largest + 1)
    assert all(f"{limit_mib:,} MiB allowed" in each.reason for each in failing)


@pytest.mark.slow
def test_sizes_that_fit_are_measured(found: FoundBatch, limit_mib: int) -> None:
    fitting = [each for each in found.trials if each.fits]
    for each in fitting:
        assert each.peak_mib is not None
        assert 100 < each.peak_mib <= limit_mib
        assert each.step_seconds is not None
        assert each.examples_per_second == pytest.approx(each.global_batch_size / each.step_seconds)
        assert (each.examples_per_second_low or 0) <= each.examples_per_second
    assert all(one.peak_mib < two.peak_mib for one, two in pairwise(fitting) if two.alone)
    assert found.best_per_replica_batch_size in [each.per_replica_batch_size for each in fitting]
    assert json.loads(json.dumps(found.to_json()))["memory_limit_mib"] == limit_mib


@pytest.mark.slow
def test_it_reports_its_progress(found: FoundBatch, reports: list[BatchProgress]) -> None:
    assert [len(each.trials) for each in reports] == sorted(len(each.trials) for each in reports)
    assert reports[0].eta_seconds is None
    assert reports[-1].trials == found.trials
    assert any(each.trials and each.eta_seconds for each in reports)


@pytest.mark.slow
def test_several_workers_are_tried_together() -> None:
    config = RunConfig(strategy="multi_worker_mirrored", workers=2, synthetic_examples=3)
    found = find_batch_size(config, devices=LAPTOP)
    assert found.ended == "data"
    assert found.num_replicas_in_sync == 2
    assert (found.largest_per_replica_batch_size, found.best_per_replica_batch_size) == (1, 1)
    assert "The data is the limit" in found.reason
    assert found.memory_limit_mib is not None


def test_a_search_in_which_no_size_fits_is_an_error() -> None:
    with pytest.raises(
        RunError, match=r"1 example per replica does not fit into 100 MiB.*Allow more memory"
    ):
        find_batch_size(RunConfig(), 100, devices=LAPTOP)


def test_a_budget_too_small_for_one_trial_is_refused() -> None:
    with pytest.raises(
        RunError, match=r"budget of 0\.01 s was over before the first trial.*more seconds"
    ):
        find_batch_size(RunConfig(), budget_seconds=0.01, devices=LAPTOP)


def test_a_stopped_search_returns_its_results_so_far() -> None:
    found = find_batch_size(RunConfig(), devices=LAPTOP, stopped=lambda: True)
    assert (found.ended, found.trials, found.largest_per_replica_batch_size) == (
        "stopped",
        (),
        None,
    )


def test_runs_on_the_same_devices_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_STATE", str(tmp_path))
    ticket = Ticket.draw(tmp_path, tmp_path / "run-1", ("CPU:0",), start_now=True)
    reports: list[BatchProgress] = []
    found = find_batch_size(
        RunConfig(), devices=LAPTOP, on_progress=reports.append, stopped=lambda: bool(reports)
    )
    ticket.give_back()
    assert found.beside == reports[0].beside == (str(tmp_path / "run-1"),)
    assert json.loads(json.dumps(found.to_json()))["beside"] == [str(tmp_path / "run-1")]


@pytest.mark.parametrize(
    ("config", "limit_mib", "budget_seconds", "field"),
    [
        (RunConfig(strategy="parameter_server"), None, 60, "strategy"),
        (RunConfig(strategy="tpu"), None, 60, "strategy"),
        (RunConfig(), None, 0, "budget"),
        (RunConfig(), 0, 60, "memory_limit"),
        (RunConfig(), 10**9, 60, "memory_limit"),
        (RunConfig(optimizer="adm"), None, 60, "optimizer"),
    ],
)
def test_wrong_input_is_refused_before_the_search(
    config: RunConfig, limit_mib: int | None, budget_seconds: float, field: str
) -> None:
    with pytest.raises(PlanError) as refused:
        find_batch_size(config, limit_mib, budget_seconds, LAPTOP)
    assert [problem.field for problem in refused.value.problems] == [field]
