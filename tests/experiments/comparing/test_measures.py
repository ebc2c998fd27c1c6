"""The numbers by which runs are compared."""

from pathlib import Path

import pytest

from tests.experiments.timed_runs import ONE, timed_run
from workbench.experiments.comparing.measures import KEPT, measure, measure_whole
from workbench.runs.records.cache import LINES


def test_a_run_is_measured_without_its_first_call(tmp_path: Path) -> None:
    measures = measure(timed_run(tmp_path, ONE, 6400.0))
    assert measures.examples_per_second == pytest.approx(6400.0)
    assert measures.step_seconds_median == pytest.approx(0.01)
    assert measures.step_seconds_p95 == pytest.approx(0.01)
    assert measures.peak_host_bytes == 100 * 2**20
    assert measures.test_accuracy == 0.9
    # The target is reached by the second epoch's test: 200 steps of 10 ms, and a slow first call.
    assert measures.target_seconds(0.8) == pytest.approx(7.0)


def test_an_unknown_value_is_none(tmp_path: Path) -> None:
    measures = measure(timed_run(tmp_path, ONE, 6400.0, peak_mib=None))
    assert measures.peak_host_bytes is None
    assert measures.target_seconds(0.95) is None


def test_the_measures_of_an_ended_run_are_kept_until_it_goes_on(tmp_path: Path) -> None:
    run = timed_run(tmp_path, ONE, 6400.0)
    measures = measure(run)
    (run.dir / "worker-0" / "calls.f8").unlink()
    assert measure(run) == measures
    with (run.dir / "events.jsonl").open("a") as file:
        file.write('{"time": 1, "event": "state", "state": "finished"}\n')
    assert measure(run).examples_per_second is None
    (run.dir / KEPT.name).write_text("{}")
    assert measure(run).examples_per_second is None
    living = timed_run(tmp_path, ONE, 6400.0, "running")
    measure(living)
    assert not (living.dir / KEPT.name).exists()


def test_a_run_that_is_measured_whole_keeps_its_curves_too(tmp_path: Path) -> None:
    run = timed_run(tmp_path, ONE, 6400.0)
    assert measure_whole(run) == measure(run)
    assert (run.dir / KEPT.name).is_file()
    assert (run.dir / LINES.name).is_file()
