"""Every strategy in both loops: real runs, compared with each other."""

import json
import os
import shutil
import subprocess
import sys
from contextlib import ExitStack
from itertools import pairwise, product
from pathlib import Path

import pytest

from tests.engine.tasks import cluster_variables
from tests.machines import FOUR_GPUS, LAPTOP, ONE_GPU, TPU_STAND_IN, TPU_VM
from workbench import catalog
from workbench.config import RunConfig
from workbench.devices import Devices
from workbench.experiments import Matrix, cells_of, run_matrix
from workbench.experiments.agreement import compare, trains
from workbench.experiments.cells import config_of
from workbench.plan import PlanError
from workbench.runs import list_runs, open_run
from workbench.runs.folder.files import TASK
from workbench.runs.processes.environment import Launch
from workbench.runs.records.reader import step_files

pytestmark = pytest.mark.timeout(1800)

CONFIG = RunConfig(pipeline="indexed", global_batch_size=64, steps_per_epoch=20, epochs=1)


def test_there_are_fourteen_cells_and_onedevice_is_the_first() -> None:
    cells = cells_of(CONFIG, LAPTOP)
    assert len({(cell.strategy, cell.loop) for cell in cells}) == 14
    assert (cells[0].strategy, cells[0].loop) == ("one_device", "custom")


def test_an_unavailable_cell_has_a_reason() -> None:
    cells = cells_of(CONFIG, LAPTOP)
    reasons = {cell.strategy: cell.reason for cell in cells if cell.status == "unavailable"}
    assert reasons == {"tpu": "no TPU here"}


def test_only_cells_with_legacy_keras_name_it() -> None:
    keras = {(cell.strategy, cell.loop): cell.keras for cell in cells_of(CONFIG, TPU_VM)}
    legacy = {name for name, version in keras.items() if str(version).startswith("tf-keras")}
    assert legacy == {("parameter_server", "fit")}
    assert set(keras.values()) == {"tf-keras 2.21.0", LAPTOP.keras_version}


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
    assert all(cell.status == "waiting" for cell in cells_of(CONFIG, ONE_GPU, [strategy]))


def test_without_a_common_step_no_cell_is_deterministic() -> None:
    assert not config_of(CONFIG, ONE_GPU, "parameter_server", "custom").deterministic


def test_a_stopped_matrix_runs_no_more_cells_and_records_that(tmp_path: Path) -> None:
    done_counts: list[int] = []
    done = run_matrix(20, runs_dir=tmp_path, devices=LAPTOP, stopped=lambda: True,
                      on_progress=lambda matrix: done_counts.append(matrix.done))  # fmt: skip
    assert {cell.status for cell in done.cells} == {"stopped", "unavailable"}
    assert done_counts == sorted(done_counts)
    kept = json.loads((done.folder / "matrix.json").read_text())
    assert [cell["status"] for cell in kept["cells"]] == [cell.status for cell in done.cells]


def test_no_steps_are_a_problem_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="steps_per_epoch must be a number above 0; got 0"):
        run_matrix(0, runs_dir=tmp_path, devices=LAPTOP)
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
    return run_matrix(20, runs_dir=folder, devices=TPU_VM, interpreter=str(python))


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
    done = run_matrix(20, runs_dir=tmp_path, devices=LAPTOP, strategies=("one_device", "default"))
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
def test_an_unreadable_run_fails_only_its_cell_and_other_cells_name_it(tmp_path: Path) -> None:
    done = 0

    def tear_the_first(matrix: Matrix) -> None:
        nonlocal done
        done = matrix.done
        runs = list_runs(matrix.folder)
        if len(runs) == 1 and (runs[0].dir / "worker-0" / "events.jsonl").exists():
            (runs[0].dir / "plan.json").write_text("{")

    unavailable_and_two_more = 4
    ended = run_matrix(
        20, runs_dir=tmp_path, devices=LAPTOP, on_progress=tear_the_first,
        stopped=lambda: done >= unavailable_and_two_more,
    )  # fmt: skip
    torn, other = (cell for cell in ended.cells if cell.status == "fail")
    assert (torn.strategy, torn.loop) == ("one_device", "custom")
    assert "plan.json cannot be read: " in torn.reason
    assert other.reason == f"OneDevice, the reference, did not train: {torn.reason}"
    assert not list(ended.folder.glob("*/certificate.json"))


@pytest.mark.slow
def test_a_model_that_cannot_be_trained_fails_its_cells_without_a_run(tmp_path: Path) -> None:
    model = f"{Path(__file__).parents[1] / 'engine' / 'own_models.py'}:not_compiled"
    ended = run_matrix(
        20, runs_dir=tmp_path, devices=LAPTOP, model=model, strategies=["one_device"]
    )
    assert [(cell.status, cell.run) for cell in ended.cells] == [("fail", None)] * 2
    assert all("not_compiled returned a model without a loss" in c.reason for c in ended.cells)
    assert list_runs(ended.folder) == []
