"""A model that draws random numbers in training continues their sequence after a resume."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from tests.engine.training import Trained, train_written, write_run
from workbench.config import RunConfig

pytestmark = pytest.mark.slow

OWN = Path(__file__).parent / "own_models.py"
STEPS = 300
CELLS = list(itertools.product(("mirrored", "one_device"), ("custom", "fit")))


def config_of(strategy: str, loop: str, epochs: int = 2, model: str = "dropping") -> RunConfig:
    return RunConfig(
        strategy=strategy,
        loop=loop,
        model=f"{OWN}:{model}",
        epochs=epochs,
        synthetic_examples=STEPS * 32,
        global_batch_size=32,
        steps_per_call=1,
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trained]:
    root = tmp_path_factory.mktemp("runs")
    written = {
        name: write_run(root, name, config_of(strategy, loop))
        for strategy, loop in CELLS
        for name in (f"{strategy}-{loop}-whole", f"{strategy}-{loop}-stopped")
    }
    written["old"] = write_run(root, "old", config_of("one_device", "custom", epochs=1))
    deeper = config_of("one_device", "custom", model="dropping_deeper")
    written["deeper"] = write_run(root, "deeper", deeper)
    (root / "deeper" / "checkpoints").symlink_to(root / "old" / "checkpoints")
    stops = {name: "calls" for name in written if name.endswith("stopped")}
    train_written(root, written, stops=stops)
    return written


@pytest.mark.parametrize("cell", ["-".join(cell) for cell in CELLS])
def test_a_run_resumed_in_mid_epoch_gives_the_losses_of_a_run_never_stopped(
    cell: str, runs: dict[str, Trained]
) -> None:
    whole, run = runs[f"{cell}-whole"], runs[f"{cell}-stopped"]
    assert whole.status == run.status == 0, whole.log + run.log
    (stop,) = run.events("stopped")
    assert 0 < stop["step"] < 2 * STEPS
    assert run.events("start")[-1]["step"] == stop["step"]
    assert len(run.losses()) == 2 * STEPS
    np.testing.assert_array_equal(run.losses(), whole.losses())


def test_the_dropped_units_differ_from_step_to_step(runs: dict[str, Trained]) -> None:
    one, other = (runs[f"one_device-{loop}-whole"].losses() for loop in ("custom", "fit"))
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-6)
    assert np.abs(np.diff(one)).min() > 0


def test_a_checkpoint_that_lacks_a_layer_of_the_model_is_refused(runs: dict[str, Trained]) -> None:
    run = runs["deeper"]
    assert run.status != 0
    assert "Needs a checkpoint of this model and optimizer; " in run.log
    assert "or start a new run." in run.log.splitlines()[-1]
    assert not run.events("start")
