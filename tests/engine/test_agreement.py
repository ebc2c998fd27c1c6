"""Strategies, loops and pipelines train the same: the same losses in every step.

The pipeline of sharded files has an order of its own: its cells agree among themselves.
"""

from itertools import product

import numpy as np
import pytest

from tests.engine.training import Trained, train_together
from workbench.config import RunConfig

pytestmark = pytest.mark.slow

STRATEGIES = ("mirrored", "central_storage", "one_device", "default")
CELLS = list(product(STRATEGIES, ("custom", "fit"), ("usual", "indexed", "files", "numpy")))
STEPS, EPOCHS, BATCH = 31, 2, 64


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trained]:
    configs = {
        f"{strategy}-{loop}-{pipeline}": RunConfig(
            strategy=strategy,
            loop=loop,
            pipeline=pipeline,
            global_batch_size=BATCH,
            epochs=EPOCHS,
            synthetic_examples=STEPS * BATCH + 7,
        )
        for strategy, loop, pipeline in CELLS
    }
    cache = {"XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache"))}
    return train_together(tmp_path_factory.mktemp("cells"), configs, cache)


@pytest.fixture(params=["-".join(cell) for cell in CELLS])
def cell(request: pytest.FixtureRequest, cells: dict[str, Trained]) -> Trained:
    return cells[request.param]


def standard_of(cell: Trained, cells: dict[str, Trained]) -> Trained:
    kind = cell.plan.pipeline if cell.plan.pipeline in ("files", "numpy") else "usual"
    return cells[f"mirrored-custom-{kind}"]


def test_it_finishes_and_saves_its_model(cell: Trained) -> None:
    assert cell.status == 0, cell.log
    assert cell.events("finished")[0]["step"] == STEPS * EPOCHS
    assert (cell.run.dir / "model.keras").is_file()


def test_its_losses_are_those_of_mirrored_in_a_custom_loop(
    cell: Trained, cells: dict[str, Trained]
) -> None:
    standard = standard_of(cell, cells).losses()
    assert len(standard) == STEPS * EPOCHS
    np.testing.assert_allclose(cell.losses(), standard, rtol=0, atol=1e-6)
    assert standard[-1] < standard[0]


def test_its_test_passes_agree_too(cell: Trained, cells: dict[str, Trained]) -> None:
    names = ["test_loss", "test_accuracy"]
    standard = standard_of(cell, cells).run.epochs()[names]
    np.testing.assert_allclose(cell.run.epochs()[names], standard, rtol=0, atol=2e-6)


def test_its_graph_functions_are_traced_once(cell: Trained) -> None:
    assert cell.traces == [1, 1]


def test_its_training_is_traced_before_the_first_call_which_takes_the_trace_up(
    cell: Trained,
) -> None:
    (begun,), (traced,) = cell.events("tracing"), cell.events("traced")
    (calls,) = (cell.run.dir / "worker-0").glob("*.calls")
    first_call_start = np.fromfile(calls, "<f8")[2]
    assert begun["time"] < traced["time"] < first_call_start
    assert traced["seconds"] == pytest.approx(traced["time"] - begun["time"], abs=0.1)
    assert traced["seconds"] > 0


def test_every_step_of_every_replica_is_recorded(cell: Trained) -> None:
    replicas = cell.plan.num_replicas_in_sync
    assert cell.examples() == [[BATCH // replicas] * replicas] * (STEPS * EPOCHS)
    frame = cell.run.replica_steps()
    assert frame["accuracy"].between(0, 1).all()
    assert (frame["call_seconds"] > 0).all()
    assert cell.run.missing == []


def test_its_epochs_are_the_means_of_its_steps(cell: Trained) -> None:
    for epoch, event in enumerate(cell.events("epoch")):
        part = cell.losses()[epoch * STEPS : (epoch + 1) * STEPS]
        assert event["loss"] == pytest.approx(part.mean(), rel=1e-5)
