"""What is kept of runs that are over: their lines among other runs."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.experiments.timed_runs import APART, ONE, TWO, timed_run, with_second_worker
from tests.widgets.folders import records, write_run, write_steps
from workbench.config import RunConfig
from workbench.points import Lines
from workbench.runs import Run
from workbench.runs.records.cache import ACROSS, LINES, MEASURES, RunLines
from workbench.runs.records.live import LiveRun


def lines_of(run: Run) -> Lines:
    return RunLines(run.dir, run.plan).read()


def assert_same(one: Lines, other: Lines) -> None:
    for name in (*ACROSS, *MEASURES):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
    assert (one.steps_a_point, one.synchronous) == (other.steps_a_point, other.synchronous)


def change_records(run: Run) -> None:
    """Multiply all records of a run, and so its loss, without an event."""
    steps = run.dir / "worker-0" / "steps.f4"
    rows = np.fromfile(steps, "<f4").reshape(-1, 3)
    rows[:, 0] *= 2
    steps.write_bytes(rows.tobytes())


def resume(run: Run) -> None:
    """Add what a resume and its end write."""
    with (run.dir / "events.jsonl").open("a") as file:
        for state in ("starting", "finished"):
            file.write(json.dumps({"event": "state", "state": state}) + "\n")


@pytest.mark.parametrize("config", [ONE, TWO, APART], ids=["one", "two replicas", "apart"])
def test_kept_lines_are_those_of_the_records(config: RunConfig, tmp_path: Path) -> None:
    run = timed_run(tmp_path, config, 1000.0)
    if config is APART:
        run = with_second_worker(run, 2.0)
    live = LiveRun(run.dir, run.plan)
    live.poll()
    found = lines_of(run)
    assert (run.dir / LINES.name).is_file()
    assert found.loss.shape == (2 if config is APART else 1, 200)
    for each in (found, lines_of(run)):
        assert_same(each, live.points().lines)


def test_lines_of_an_ended_run_are_read_from_its_file(tmp_path: Path) -> None:
    run = timed_run(tmp_path, ONE, 1000.0)
    before = lines_of(run)
    change_records(run)
    assert_same(lines_of(run), before)


def test_lines_are_read_again_after_a_resume(tmp_path: Path) -> None:
    run = timed_run(tmp_path, ONE, 1000.0)
    followed = RunLines(run.dir, run.plan)
    before = followed.read()
    change_records(run)
    assert_same(followed.read(), before)
    resume(run)
    for after in (followed.read(), lines_of(run), lines_of(run)):
        np.testing.assert_allclose(after.loss, 2 * before.loss)


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:-8],
        lambda content: content[:-8] + b"\xff" * 8,
        lambda content: content + b"\0" * 8,
        lambda content: content.replace(b'"points": 200', b'"points": 199'),
        lambda content: content.replace(b'"points": 200', b'"points": "all"'),
        lambda content: content.replace(b'"version": 1', b'"version": 0'),
        lambda content: content[content.index(b"\n") :],
        lambda content: b"[]\n",
        lambda content: b"",
    ],
    ids=[
        *("cut short", "other bytes", "longer", "another shape", "no number", "another version"),
        *("no head", "a list", "empty"),
    ],
)
def test_a_damaged_file_is_not_believed(damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    run = timed_run(tmp_path, ONE, 1000.0)
    before, kept = lines_of(run), run.dir / LINES.name
    change_records(run)
    kept.write_bytes(damage(kept.read_bytes()))
    np.testing.assert_allclose(lines_of(run).loss, 2 * before.loss)


def test_in_a_folder_that_takes_no_file_the_records_are_read(tmp_path: Path) -> None:
    run = timed_run(tmp_path, ONE, 1000.0)
    (run.dir / LINES.name).mkdir()
    before = lines_of(run)
    change_records(run)
    np.testing.assert_allclose(lines_of(run).loss, 2 * before.loss)


def test_only_new_records_of_a_run_that_goes_on_are_read(tmp_path: Path) -> None:
    run = write_run(tmp_path, "running", steps=2)
    followed = RunLines(run.dir, run.plan)
    assert followed.read().step.tolist() == [1, 2]
    write_steps(run.dir / "worker-0", 2, records(3))
    assert followed.read().step.tolist() == [1, 2, 3, 4, 5]
    assert not (run.dir / LINES.name).exists()


def test_a_deleted_run_has_no_lines(tmp_path: Path) -> None:
    run = timed_run(tmp_path, ONE, 1000.0)
    followed = RunLines(run.dir, run.plan)
    assert len(followed.read().step) == 200
    run.delete()
    assert len(followed.read().step) == 0
