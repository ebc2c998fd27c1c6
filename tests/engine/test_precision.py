"""Training in another precision: variables and computation have the requested dtypes."""

from pathlib import Path

import numpy as np
import pytest

from tests.engine.training import Trained, ask_model, train_together, train_written, write_run
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


@pytest.mark.parametrize("loop", ["custom", "fit"])
def test_steps_whose_scaled_gradient_is_too_large_count_when_training_resumes(
    tmp_path: Path, loop: str
) -> None:
    # Of several replicas, Keras 3 looks only at the first one's gradient.
    fields = {"strategy": "one_device", "precision": "mixed_bfloat16", "loop": loop}
    config = RunConfig(**fields, steps_per_call=1, steps_per_epoch=200, epochs=1)
    written = {name: write_run(tmp_path, name, config) for name in ("whole", "resumed")}
    build = "model.optimizer.build(model.trainable_variables)\n"
    large = f"{build}        model.optimizer.dynamic_scale.assign(2.0**21)\n"
    for trained in written.values():  # mixed_float16 is planned for GPUs only
        script = trained.run.dir / "train.py"
        text = script.read_text().replace("mixed_bfloat16", "mixed_float16")
        script.write_text(text.replace(build, large))
    train_written(tmp_path, written, stops={"resumed": "calls"})
    whole, resumed = written.values()
    assert whole.status == resumed.status == 0, resumed.log
    assert len(resumed.events("stopped")) == 1
    assert len(resumed.losses()) == 200
    np.testing.assert_array_equal(resumed.losses(), whole.losses())
