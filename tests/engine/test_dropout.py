"""A model that draws random numbers while it trains goes on with them where it stopped."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from tests.engine.training import Trained, train_together
from workbench.config import RunConfig

pytestmark = pytest.mark.slow

OWN = Path(__file__).parent / "own_models.py"
STEPS = 300
CELLS = list(itertools.product(("mirrored", "one_device"), ("custom", "fit")))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trained]:
    configs = {
        f"{strategy}-{loop}-{how}": RunConfig(
            strategy=strategy,
            loop=loop,
            model=f"{OWN}:dropping",
            epochs=2,
            synthetic_examples=STEPS * 32,
            global_batch_size=32,
            steps_per_call=1,
        )
        for strategy, loop in CELLS
        for how in ("whole", "stopped")
    }
    stopped = [name for name in configs if name.endswith("stopped")]
    return train_together(tmp_path_factory.mktemp("runs"), configs, stopped=stopped)


@pytest.mark.parametrize("cell", ["-".join(cell) for cell in CELLS])
def test_stopped_in_mid_epoch_and_resumed_it_gives_the_losses_of_a_run_never_stopped(
    cell: str, runs: dict[str, Trained]
) -> None:
    whole, run = runs[f"{cell}-whole"], runs[f"{cell}-stopped"]
    assert whole.status == run.status == 0, whole.log + run.log
    (stop,) = run.events("stopped")
    assert 0 < stop["step"] < 2 * STEPS
    assert run.events("start")[-1]["step"] == stop["step"]
    assert len(run.losses()) == 2 * STEPS
    np.testing.assert_array_equal(run.losses(), whole.losses())


def test_what_is_dropped_differs_from_step_to_step(runs: dict[str, Trained]) -> None:
    one, other = (runs[f"one_device-{loop}-whole"].losses() for loop in ("custom", "fit"))
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-6)
    assert np.abs(np.diff(one)).min() > 0
