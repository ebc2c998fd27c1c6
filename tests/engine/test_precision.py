"""Training in another precision: variables and computation have the requested dtypes."""

from pathlib import Path

import numpy as np
import pytest

from tests.engine.training import Trained, ask_model, train_together
from workbench.config import RunConfig

pytestmark = pytest.mark.slow

STEPS = 20
DTYPES = {"float64": ("float64", "float64"), "mixed_bfloat16": ("float32", "bfloat16")}
"""The dtypes of variables and of computation."""
RECORDS = {"float64": "steps.f8", "mixed_bfloat16": "steps.f4"}
LOOPS = {
    "custom": {"loop": "custom"},
    "fit": {"loop": "fit"},
    "general": {"loop": "custom", "clip_norm": 1e6},
}
Runs = dict[str, dict[str, Trained]]


@pytest.fixture(scope="module")
def runs(root: Path) -> Runs:
    """Two replicas in each loop; one process per precision: a script sets it for the process."""
    found: Runs = {}
    for precision in DTYPES:
        fields = {"precision": precision, "steps_per_epoch": STEPS, "epochs": 1}
        configs = {f"{precision}-{loop}": {**fields, **more} for loop, more in LOOPS.items()}
        run_configs = {name: RunConfig(**config) for name, config in configs.items()}
        trained = train_together(root, run_configs)
        found[precision] = {loop: trained[f"{precision}-{loop}"] for loop in LOOPS}
    return found


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("precision", DTYPES)
def test_every_step_is_recorded_with_a_finite_loss(precision: str, loop: str, runs: Runs) -> None:
    trained = runs[precision][loop]
    assert trained.status == 0, trained.log
    assert np.isfinite(trained.losses()).tolist() == [True] * STEPS
    assert np.isfinite(trained.run.epochs()["test_loss"]).all()
    (records,) = (trained.run.dir / "worker-0").glob("steps*")
    assert records.name == RECORDS[precision]


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("precision", DTYPES)
def test_each_layer_holds_and_computes_numbers_of_the_precision(
    precision: str, loop: str, runs: Runs
) -> None:
    question = "[[each.variable_dtype, each.compute_dtype] for each in model.layers]"
    dtypes = ask_model(runs[precision][loop].run, question)
    assert {tuple(each) for each in dtypes} == {DTYPES[precision]}


@pytest.mark.parametrize("precision", DTYPES)
def test_the_loops_give_the_same_losses(precision: str, runs: Runs) -> None:
    losses = [trained.losses() for trained in runs[precision].values()]
    for losses_of_loop in losses[1:]:
        np.testing.assert_allclose(losses_of_loop, losses[0], rtol=0, atol=1e-6)
