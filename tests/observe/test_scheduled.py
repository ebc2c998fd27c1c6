"""Steps that a coordinator schedules on workers, of a script that the workbench did not write."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pytest

from tests.engine.tasks import OBSERVER, cluster_variables
from tests.forked import run_program
from tests.observe.observing import events
from tests.waiting import LIMIT_SECONDS
from workbench.runs import Run

pytestmark = pytest.mark.slow

SCRIPTS = Path(__file__).parent / "scripts"
SCRIPT, SERVED = SCRIPTS / "scheduled.py", SCRIPTS / "served.py"
STEPS, WORKERS, BATCH = 18, 2, 8
KINDS = {"chief": 1, "worker": WORKERS, "ps": 1}


@contextmanager
def started(folder: Path, script: Path = SCRIPT) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Start each task of the script under observation, and end those that are left."""
    command = [sys.executable, OBSERVER, "--run-dir", folder, script, folder]
    with ExitStack() as stack:
        processes = []
        for variables in stack.enter_context(cluster_variables(KINDS)):
            environment = {**os.environ, **variables}
            process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL)
            processes.append(stack.enter_context(process))
            stack.callback(process.kill)
        yield processes


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scheduled")
    with started(folder) as (chief, *_):
        assert chief.wait(LIMIT_SECONDS) == 0
    return folder


def rows(folder: Path, worker: int) -> np.ndarray:
    return np.fromfile(folder / f"worker-{worker}" / "steps.f4", np.float32).reshape(-1, 3)


def test_every_step_of_every_worker_is_recorded_as_the_script_saw_it(run: Path) -> None:
    recorded = np.concatenate([rows(run, worker) for worker in range(WORKERS)])
    assert len(recorded) == 2 * STEPS
    assert (recorded[:, 2] == BATCH).all()
    own = json.loads((run / "losses.json").read_text())
    assert sorted(recorded[::2, 0] / BATCH) == pytest.approx(sorted(own), rel=1e-6)


def test_two_kinds_of_steps_of_a_call_keep_their_order_and_their_numbers(run: Path) -> None:
    for worker in range(WORKERS):
        losses = rows(run, worker)[:, 0] / BATCH
        if not len(losses):  # the other worker has done all
            continue
        largest, mean = (
            np.fromfile(run / f"worker-{worker}" / f"scalar-{name}.f4", np.float32)
            for name in ("largest", "mean")
        )
        assert (largest[::2] > losses[::2]).all()
        assert np.isnan(largest[1::2]).all()
        assert np.isnan(mean[::2]).all()
        assert mean[1::2] == pytest.approx(losses[1::2])


def test_each_step_has_the_times_of_its_update_within_its_call(run: Path) -> None:
    for worker in range(WORKERS):
        times = np.fromfile(run / f"worker-{worker}" / "updates").reshape(-1, 3)
        calls = np.fromfile(run / f"worker-{worker}" / "calls.f8").reshape(-1, 4)
        assert times[:, 0].tolist() == list(range(len(rows(run, worker))))
        assert (np.diff(times[:, 1:].ravel()) >= 0).all()
        for first, count, start, seconds in calls[1:]:
            own = times[int(first) : int(first + count), 1:]
            assert start <= own.min()
            assert own.max() <= start + seconds


def test_a_second_start_records_from_where_the_script_goes_on(run: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(run, tmp_path / "run")
    with started(folder) as (chief, *others):
        assert chief.wait(LIMIT_SECONDS) == 0
        # Without a supervisor, the tasks that serve end with their chief.
        assert [each.wait(LIMIT_SECONDS) for each in others] == [0, 0, 0]
    begun = events(folder, "start", "chief-0")
    assert [each["step"] for each in begun] == [0, 2 * STEPS]
    for worker in range(WORKERS):
        earlier = rows(run, worker)
        np.testing.assert_array_equal(rows(folder, worker)[: len(earlier)], earlier)
    assert sum(len(rows(folder, worker)) for worker in range(WORKERS)) == 4 * STEPS


def test_the_tasks_that_serve_end_with_a_chief_that_fails(tmp_path: Path) -> None:
    script, folder = tmp_path / "mine.py", tmp_path / "run"
    script.write_text(f"{SCRIPT.read_text()}\nraise ValueError('a fault')\n")
    folder.mkdir()
    with started(folder, script) as (chief, *others):
        assert chief.wait(LIMIT_SECONDS) == 1
        assert [each.wait(LIMIT_SECONDS) for each in others] == [0, 0, 0]
    run = Run(folder)
    assert (run.status, run.alive) == ("failed", False)
    assert run.failure.cause == "ValueError: a fault"


def test_the_tasks_that_serve_say_so(run: Path) -> None:
    for task in ("worker-0", "worker-1", "ps-0"):
        lines = (run / task / "events.jsonl").read_text().splitlines()
        assert [json.loads(line)["event"] for line in lines] == ["imported", "serving"]


def test_a_server_ends_with_its_own_chief_whatever_the_time_on_the_chiefs_host(
    tmp_path: Path,
) -> None:
    done = run_program([SERVED, tmp_path])
    assert done.stdout.splitlines() == ["serving", "waits"]
