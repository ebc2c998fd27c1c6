"""Strategies, loops and pipelines train the same: the same losses in every step.

The pipeline of sharded files has an order of its own: its cells agree among themselves.
"""

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from tests.engine.training import Trained, train_together
from workbench.config import RunConfig

pytestmark = pytest.mark.slow

STRATEGIES = ("mirrored", "central_storage", "one_device", "default")
LOOPS = ("custom", "fit")
OF_ITS_OWN_ORDER = ("files", "numpy")
PIPELINES = ("usual", "indexed", *OF_ITS_OWN_ORDER)
STEPS, EPOCHS, BATCH = 31, 2, 64
Train = Callable[[str, str, str], Trained]


@pytest.fixture(scope="module")
def train(tmp_path_factory: pytest.TempPathFactory) -> Train:
    """Returns a cell by strategy, loop and pipeline; all of a pipeline are trained together."""
    trained: dict[str, dict[tuple[str, str], Trained]] = {}

    def train_all(pipeline: str) -> dict[tuple[str, str], Trained]:
        configs = {
            f"{strategy}-{loop}": RunConfig(
                strategy=strategy,
                loop=loop,
                pipeline=pipeline,
                global_batch_size=BATCH,
                epochs=EPOCHS,
                synthetic_examples=STEPS * BATCH + 7,
            )
            for strategy, loop in product(STRATEGIES, LOOPS)
        }
        done = train_together(tmp_path_factory.mktemp(pipeline), configs)
        return dict(zip(product(STRATEGIES, LOOPS), done.values(), strict=True))

    def one(strategy: str, loop: str, pipeline: str) -> Trained:
        if pipeline not in trained:
            trained[pipeline] = train_all(pipeline)
        return trained[pipeline][strategy, loop]

    return one


@pytest.fixture(
    params=[
        pytest.param(cell, id="-".join(cell), marks=[pytest.mark.promise] * (cell[0] == "usual"))
        for cell in product(PIPELINES, STRATEGIES, LOOPS)
    ]
)
def cell(request: pytest.FixtureRequest, train: Train) -> Trained:
    pipeline, strategy, loop = request.param
    return train(strategy, loop, pipeline)


def standard_of(cell: Trained, train: Train) -> Trained:
    pipeline = cell.plan.pipeline
    return train("mirrored", "custom", pipeline if pipeline in OF_ITS_OWN_ORDER else "usual")


def test_it_finishes_and_saves_its_model(cell: Trained) -> None:
    assert cell.status == 0, cell.log
    assert cell.events("finished")[0]["step"] == STEPS * EPOCHS
    assert (cell.run.dir / "model.keras").is_file()


def test_its_losses_are_those_of_mirrored_in_a_custom_loop(cell: Trained, train: Train) -> None:
    standard = standard_of(cell, train).losses()
    assert len(standard) == STEPS * EPOCHS
    np.testing.assert_allclose(cell.losses(), standard, rtol=0, atol=1e-6)
    assert standard[-1] < standard[0]


def test_its_test_passes_agree_too(cell: Trained, train: Train) -> None:
    names = ["test_loss", "test_accuracy"]
    standard = standard_of(cell, train).run.epochs()[names]
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
    assert 0 < traced["seconds"] < traced["time"] - begun["time"] + 0.01  # of two clocks


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
