"""Every strategy in both loops: real runs, compared with each other."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

import pytest

from tests.engine.tasks import cluster_variables
from tests.experiments.written import write_request
from tests.machines import FOUR_GPUS, LAPTOP, ONE_GPU, TPU_STAND_IN, TPU_VM
from tests.waiting import LIMIT_SECONDS, until
from workbench import catalog
from workbench.config import RunConfig
from workbench.devices import Devices
from workbench.experiments import Comparison, Matrix, matrix_of, newest_matrix, start_matrix
from workbench.experiments.agreement import compare, trains
from workbench.experiments.cells import cells_of, config_of, grid
from workbench.plan import PlanError
from workbench.runs import list_runs, open_run
from workbench.runs.folder.files import TASK
from workbench.runs.processes.environment import Launch
from workbench.runs.records.reader import step_files

pytestmark = pytest.mark.timeout(1800)

CONFIG = RunConfig(pipeline="indexed", global_batch_size=64, steps_per_epoch=20, epochs=1)


def test_there_are_fourteen_cells_and_onedevice_is_the_first() -> None:
    cells = grid(CONFIG, LAPTOP)
    assert len({(cell.config.strategy, cell.config.loop) for cell in cells}) == len(cells) == 14
    assert cells[0].label == "OneDevice, Custom loop"


def test_images_are_trained_in_double_and_in_single_precision_where_workers_step_together() -> None:
    cells = grid(replace(CONFIG, data="fashion_mnist", precision="float64"), LAPTOP)
    assert cells[1].label == "OneDevice, Custom loop, float32"
    precisions = Counter(cell.config.precision for cell in cells)
    assert precisions == {"float64": 14, "float32": 10}


def test_an_unavailable_cell_has_a_reason() -> None:
    reasons = {cell.config.strategy: cell.reason for cell in grid(CONFIG, LAPTOP) if cell.reason}
    assert reasons == {"tpu": "no TPU here"}


def test_only_cells_with_legacy_keras_name_it(tmp_path: Path) -> None:
    written = write_request(tmp_path, grid(CONFIG, LAPTOP), [], agreement=True)
    keras = {(cell.strategy, cell.loop): cell.keras for cell in cells_of(written)}
    legacy = {name for name, version in keras.items() if str(version).startswith("tf-keras")}
    assert legacy == {("parameter_server", "fit")}
    assert set(keras.values()) == {"tf-keras 2.21.0", LAPTOP.keras_version, None}


TASKS = {
    "multi_worker_mirrored": {"worker": 2},
    "parameter_server": {"chief": 1, "worker": 2, "ps": 1},
}
"""The tasks of the strategies that have several."""


@pytest.mark.parametrize(
    ("machine", "strategy", "replicas"),
    [
        (ONE_GPU, "mirrored", 2),
        (ONE_GPU, "central_storage", 2),
        (ONE_GPU, "one_device", None),
        (FOUR_GPUS, "mirrored", None),
        (LAPTOP, "mirrored", None),
    ],
)
def test_a_single_gpu_is_split_so_that_gradients_are_summed(
    machine: Devices, strategy: str, replicas: int | None
) -> None:
    assert config_of(CONFIG, machine, strategy, "custom").replicas == replicas


@pytest.mark.parametrize("strategy", ["mirrored", "one_device", "multi_worker_mirrored"])
def test_on_gpus_the_compared_cells_have_operations_that_round_the_same_each_time(
    strategy: str,
) -> None:
    assert config_of(CONFIG, ONE_GPU, strategy, "fit").deterministic
    assert not config_of(CONFIG, LAPTOP, strategy, "fit").deterministic
    assert not any(cell.reason for cell in grid(CONFIG, ONE_GPU, [strategy]))


def test_without_a_common_step_no_cell_is_deterministic() -> None:
    assert not config_of(CONFIG, ONE_GPU, "parameter_server", "custom").deterministic


def test_no_steps_are_a_problem_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="steps_per_epoch must be a number above 0; got 0"):
        start_matrix(0, runs_dir=tmp_path, devices=LAPTOP)
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python in which the stand-in replaces a TPU."""
    path = tmp_path_factory.mktemp("bin") / "python"
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{TPU_STAND_IN}" "$@"\n')
    path.chmod(0o755)
    return path


@pytest.fixture(scope="module")
def matrix(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Matrix:
    """All cells; the cells of a TPU run on its stand-in."""
    folder = tmp_path_factory.mktemp("matrix")
    return finished(start_matrix(20, runs_dir=folder, devices=TPU_VM, interpreter=str(python)))


def finished(comparison: Comparison) -> Matrix:
    assert comparison.wait(LIMIT_SECONDS) == "finished", comparison.log()
    return matrix_of(comparison)


@pytest.mark.slow
def test_all_fourteen_cells_pass_with_a_stand_in_for_the_tpu(matrix: Matrix) -> None:
    assert {
        (cell.strategy, cell.loop): cell.reason for cell in matrix.cells if cell.status != "pass"
    } == {}


@pytest.mark.slow
def test_synchronous_runs_agree_except_for_rounding_and_each_run_has_a_certificate(
    matrix: Matrix,
) -> None:
    for cell in matrix.cells:
        synchronous = catalog.STRATEGIES[cell.strategy].synchronous
        assert cell.run is not None
        proof = json.loads((Path(cell.run) / "certificate.json").read_text())
        for name in ("max_loss_difference", "max_weight_difference"):
            assert proof[name] == getattr(cell, name)
            assert proof[name] <= 1e-6 if synchronous else proof[name] is None
        assert proof["steps"] == 20
        assert proof["seed"] == 42
        assert len(proof["data_sha256"]) == 64
        assert proof["versions"]["tensorflow"]
        assert proof["precision"] == "float32"


@pytest.mark.slow
def test_a_cell_starts_once_the_one_before_has_done_its_steps(tmp_path: Path) -> None:
    two = ("one_device", "default")
    done = finished(start_matrix(20, runs_dir=tmp_path, devices=LAPTOP, strategies=two))
    runs = [open_run(str(cell.run)) for cell in done.cells]
    for earlier, later in pairwise(runs):
        began, took = step_files(earlier.dir / TASK, 1).log()[-1][2:]
        assert later.created > began + took


@pytest.mark.slow
def test_on_a_tpu_a_cell_starts_once_the_one_before_has_ended(matrix: Matrix) -> None:
    runs = [open_run(str(cell.run)) for cell in matrix.cells]
    for earlier, later in pairwise(runs):
        (ended,) = (e["time"] for e in earlier.events() if e.get("state") == "finished")
        assert later.created > ended


@pytest.mark.slow
@pytest.mark.parametrize(("strategy", "loop"), list(product(catalog.STRATEGIES, catalog.LOOPS)))
def test_each_script_started_alone_gives_the_losses_of_its_run(
    strategy: str, loop: str, matrix: Matrix, python: Path, tmp_path: Path
) -> None:
    cell = next(cell for cell in matrix.cells if (cell.strategy, cell.loop) == (strategy, loop))
    run = open_run(str(cell.run))
    shutil.copy(run.dir / "train.py", tmp_path)
    command = [python, *Launch(str(python), tmp_path).command(tmp_path)]
    kinds = TASKS.get(strategy, {"worker": 1})
    several = sum(kinds.values()) > 1
    with cluster_variables(kinds) as named, ExitStack() as stack:
        begun = []
        for variables in named:
            process = subprocess.Popen(
                command, cwd=tmp_path, env={**os.environ, **(variables if several else {})},
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            )  # fmt: skip
            begun.append(stack.enter_context(process))
            stack.callback(process.kill)
        leading = begun[: next(iter(kinds.values()))]
        errors = [each.communicate()[1] for each in leading]
    assert [each.returncode for each in leading] == [0] * len(leading), errors
    alone = open_run(str(tmp_path))
    if catalog.STRATEGIES[strategy].synchronous:
        found = compare(alone, run, cell.precision)
        assert found.holds, found.reason
        assert found.steps == 20
    else:
        assert not trains(alone)


@pytest.mark.slow
def test_a_matrix_whose_queue_was_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    two = ("one_device", "default")
    begun = start_matrix(20, runs_dir=tmp_path, devices=LAPTOP, strategies=two)
    pid = until(lambda: [event["pid"] for event in begun.events if "pid" in event])[0]
    until(lambda: begun.ended)
    os.kill(pid, signal.SIGKILL)
    until(lambda: begun.state == "lost")
    kept = next(iter(begun.over))
    found = newest_matrix(tmp_path)
    assert found is not None
    found.resume()
    done = finished(found)
    assert [cell.status for cell in done.cells] == ["pass"] * 4
    assert Path(str(done.cells[0].run)).name == kept
    assert all((Path(str(cell.run)) / "certificate.json").exists() for cell in done.cells)


@pytest.mark.slow
def test_an_unreadable_run_fails_only_its_cell_and_other_cells_name_it(tmp_path: Path) -> None:
    begun = start_matrix(20, runs_dir=tmp_path, devices=LAPTOP, strategies=["one_device"])
    first = begun.folder / until(lambda: begun.trials)[0].run
    until((first / "worker-0" / "events.jsonl").exists)
    (first / "plan.json").write_text("{")
    torn, other = finished(begun).cells
    assert (torn.strategy, torn.loop, torn.status) == ("one_device", "custom", "fail")
    assert "plan.json cannot be read: " in torn.reason
    assert other.reason == f"OneDevice, the reference, did not train: {torn.reason}"
    assert not list(begun.folder.glob("*/certificate.json"))


@pytest.mark.slow
def test_a_model_that_cannot_be_trained_fails_its_cells_without_a_run(tmp_path: Path) -> None:
    model = f"{Path(__file__).parents[1] / 'engine' / 'own_models.py'}:not_compiled"
    begun = start_matrix(
        20, runs_dir=tmp_path, devices=LAPTOP, model=model, strategies=["one_device"]
    )
    ended = finished(begun)
    assert [(cell.status, cell.run) for cell in ended.cells] == [("fail", None)] * 2
    assert all("not_compiled returned a model without a loss" in c.reason for c in ended.cells)
    assert list_runs(begun.folder) == []
