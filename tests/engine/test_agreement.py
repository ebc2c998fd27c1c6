"""All strategies, loops and pipelines give the same losses in every step.

A pipeline with its own order of examples has its own standard: its cells agree with each other.
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
OWN_ORDER = ("files", "numpy")
PIPELINES = ("usual", "indexed", *OWN_ORDER)
STEPS, EPOCHS, BATCH = 31, 2, 64
Train = Callable[[str, str, str], Trained]


@pytest.fixture(scope="module")
def train(tmp_path_factory: pytest.TempPathFactory) -> Train:
    """Return a function that gives a trained cell; all cells of a pipeline train together."""
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

    def cell_of(strategy: str, loop: str, pipeline: str) -> Trained:
        if pipeline not in trained:
            trained[pipeline] = train_all(pipeline)
        return trained[pipeline][strategy, loop]

    return cell_of


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
    return train("mirrored", "custom", pipeline if pipeline in OWN_ORDER else "usual")


def test_a_run_finishes_and_saves_its_model(cell: Trained) -> None:
    assert cell.status == 0, cell.log
    assert cell.events("finished")[0]["step"] == STEPS * EPOCHS
    assert (cell.run.dir / "model.keras").is_file()


def test_losses_equal_those_of_mirrored_in_a_custom_loop(cell: Trained, train: Train) -> None:
    standard = standard_of(cell, train).losses()
    assert len(standard) == STEPS * EPOCHS
    np.testing.assert_allclose(cell.losses(), standard, rtol=0, atol=1e-6)
    assert standard[-1] < standard[0]


def test_the_results_of_test_passes_equal_those_of_mirrored_in_a_custom_loop(
    cell: Trained, train: Train
) -> None:
    names = ["test_loss", "test_accuracy"]
    standard = standard_of(cell, train).run.epochs()[names]
    np.testing.assert_allclose(cell.run.epochs()[names], standard, rtol=0, atol=2e-6)


def test_graph_functions_are_traced_once(cell: Trained) -> None:
    assert cell.traces == [1, 1]


def test_the_train_function_is_traced_before_the_first_call_which_uses_that_trace(
    cell: Trained,
) -> None:
    (tracing,), (traced,) = cell.events("tracing"), cell.events("traced")
    begin, first_call = np.fromfile(cell.run.dir / "worker-0" / "calls.f8", "<f8").reshape(-1, 4)[
        :2
    ]
    assert begin[1] == 0
    first_call_start = first_call[2]
    assert tracing["time"] < traced["time"] < first_call_start
    assert 0 < traced["seconds"] < traced["time"] - tracing["time"] + 0.01  # from two clocks


def test_every_step_of_every_replica_is_recorded(cell: Trained) -> None:
    replicas = cell.plan.num_replicas_in_sync
    assert cell.examples() == [[BATCH // replicas] * replicas] * (STEPS * EPOCHS)
    frame = cell.run.replica_steps()
    assert frame["accuracy"].between(0, 1).all()
    assert (frame["call_seconds"] > 0).all()
    assert cell.run.missing == []


def test_the_loss_of_an_epoch_is_the_mean_of_its_steps(cell: Trained) -> None:
    for epoch, event in enumerate(cell.events("epoch")):
        part = cell.losses()[epoch * STEPS : (epoch + 1) * STEPS]
        assert event["loss"] == pytest.approx(part.mean(), rel=1e-5)
