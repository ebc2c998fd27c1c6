"""Common shapes of models on two replicas, in one process and in two, in both loops."""

from pathlib import Path

import numpy as np
import pytest

from tests.engine import shapes
from tests.engine.tasks import run_workers
from tests.engine.training import Trained, train_written, weights, write_run
from workbench.config import RunConfig

pytestmark = pytest.mark.slow

FILE = Path(__file__).parent / "own_shapes.py"
TOGETHER = Path(__file__).parent / "workers_together.py"
LOOPS = ("custom", "fit")
STEPS = 30


def config(shape: str, strategy: str, loop: str = "custom") -> RunConfig:
    # Mixed precision excludes float64; float64 proves the others to the last digits.
    precision = "float32" if shape == "mixed_precision" else "float64"
    return RunConfig(
        data=f"{FILE}:{shapes.DATA[shape]}", model=f"{FILE}:{shape}", strategy=strategy, loop=loop,
        global_batch_size=32, epochs=1, steps_per_epoch=STEPS, precision=precision,
    )  # fmt: skip


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trained]:
    root = tmp_path_factory.mktemp("shapes")

    def write_runs(strategy: str, loop: str) -> dict[str, Trained]:
        names = {shape: f"{shape}-{strategy}-{loop}" for shape in shapes.DATA}
        return {
            name: write_run(root, name, config(shape, strategy, loop))
            for shape, name in names.items()
        }

    alone = {**write_runs("mirrored", "custom"), **write_runs("mirrored", "fit")}
    alone |= write_runs("one_device", "custom")
    train_written(root, alone)
    workers = {n: t for loop in LOOPS for n, t in write_runs("multi_worker_mirrored", loop).items()}
    run_workers([TOGETHER, *(trained.run.dir for trained in workers.values())], root)
    return {**alone, **workers}


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("strategy", ["mirrored", "multi_worker_mirrored"])
@pytest.mark.parametrize("shape", shapes.DATA)
def test_two_replicas_give_the_losses_and_weights_of_one_device(
    shape: str, strategy: str, loop: str, runs: dict[str, Trained]
) -> None:
    two, one = runs[f"{shape}-{strategy}-{loop}"], runs[f"{shape}-one_device-custom"]
    assert two.examples() == [[16, 16]] * STEPS
    assert two.losses()[-10:].mean() < two.losses()[:10].mean()
    if shape not in shapes.RANDOM:
        np.testing.assert_allclose(two.losses(), one.losses(), rtol=0, atol=1e-12)
        np.testing.assert_allclose(weights(two.run), weights(one.run), rtol=0, atol=1e-12)


@pytest.mark.parametrize("shape", shapes.RANDOM)
def test_shapes_that_differ_from_one_device_give_the_same_losses_in_both_loops(
    shape: str, runs: dict[str, Trained]
) -> None:
    custom, fit = (runs[f"{shape}-mirrored-{loop}"].losses() for loop in LOOPS)
    np.testing.assert_allclose(fit, custom, rtol=0, atol=1e-6)
