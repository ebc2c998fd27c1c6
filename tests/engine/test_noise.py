"""The noise scale of real runs agrees with the one computed by brute force from all examples."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.engine.training import Trained, train_together
from tests.forked import run_program
from workbench.cli import main
from workbench.config import RunConfig
from workbench.experiments.noise_scale import NoiseScale, estimate
from workbench.runs import RunError
from workbench.runs.programs.noise import Gradients, measure_gradients

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
EXAMPLES, BATCH = 1_300, 16  # 81 whole batches, 4 remain
BASE = RunConfig(synthetic_examples=EXAMPLES, global_batch_size=BATCH, epochs=1)
CONFIGS = {
    "mirrored": BASE,
    "one": replace(BASE, strategy="one_device", loop="fit"),
    # Stacks of batches, random numbers, and statistics of a batch.
    "normalized": replace(BASE, pipeline="indexed", model=f"{HERE / 'own_models.py'}:normalized"),
    "by_hand": replace(BASE, strategy="one_device"),
}
APPLY = "model.optimizer.apply_gradients(zip(gradients, model.trainable_variables))"
BY_HAND = "[w.assign_sub(0.1 * g) for w, g in zip(model.trainable_variables, gradients)]"
STEPS = 40
Measure = Callable[[str], tuple[Gradients, ...]]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trained]:
    trained = train_together(tmp_path_factory.mktemp("runs"), CONFIGS)
    for each in trained.values():
        assert each.status == 0, each.log
    script = trained["by_hand"].run.dir / "train.py"
    assert APPLY in script.read_text()
    script.write_text(script.read_text().replace(APPLY, BY_HAND))
    return trained


@pytest.fixture(scope="module")
def measured(runs: dict[str, Trained]) -> dict[str, tuple[Gradients, ...]]:
    return {
        "mirrored": measure_gradients(runs["mirrored"].run.dir, STEPS, growth=True),
        "one": measure_gradients(runs["one"].run.dir, STEPS),
    }


@pytest.fixture(scope="module")
def truth(runs: dict[str, Trained]) -> dict[str, dict[str, float]]:
    names = ["mirrored", "one"]
    folders = [runs[name].run.dir for name in names]
    done = run_program([HERE / "true_noise.py", EXAMPLES, *folders])
    return dict(zip(names, map(json.loads, done.stdout.splitlines()), strict=True))


@pytest.mark.parametrize("name", ["mirrored", "one"])
def test_the_interval_contains_the_noise_scale_computed_from_every_example(
    name: str, measured: dict[str, tuple[Gradients, ...]], truth: dict[str, dict[str, float]]
) -> None:
    found, true = estimate(measured[name][-1]), truth[name]
    assert found.low is not None
    assert found.high is not None
    assert found.low < true["examples"] < found.high
    assert found.noise == pytest.approx(true["noise"], rel=0.25)
    assert found.squared_gradient == pytest.approx(true["squared_gradient"], rel=0.5)


def test_one_replica_is_enough_for_a_measurement(
    measured: dict[str, tuple[Gradients, ...]],
) -> None:
    (alone,), (*_, two) = measured["one"], measured["mirrored"]
    assert alone.squared_norms.shape == (STEPS, 1)
    assert two.squared_norms.shape == (STEPS, 2)
    assert (alone.per_replica_batch_size, two.per_replica_batch_size) == (BATCH, BATCH // 2)


def test_the_same_batches_have_the_same_mean_gradients_under_every_strategy(
    measured: dict[str, tuple[Gradients, ...]],
) -> None:
    """`fit` and the custom loop give the batches the same weights."""
    alone, two = measured["one"][-1], measured["mirrored"][-1]
    np.testing.assert_allclose(alone.products, two.products, rtol=1e-3, atol=1e-6)
    assert len(alone.products) == 20  # groups of two steps
    assert alone.weights == two.weights


def test_gradients_are_measured_at_the_first_weights_and_each_checkpoint_in_order(
    measured: dict[str, tuple[Gradients, ...]],
) -> None:
    steps = [each.step for each in measured["mirrored"]]
    assert (steps[0], steps[-1]) == (0, EXAMPLES // BATCH)
    first, last = (measured["mirrored"][at].squared_norms for at in (0, -1))
    assert not np.allclose(first, last, rtol=0.01)


def test_the_command_scale_prints_a_sentence_and_numbers(
    runs: dict[str, Trained], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The model has Dropout and batch normalization, its batches come in stacks."""
    run, page = runs["normalized"].run, tmp_path / "scale.html"
    arguments = ["scale", str(run.dir), "--steps", "1000", "--json", "--html", str(page)]
    assert main(arguments) == 0
    printed = capsys.readouterr()
    result = json.loads(printed.out)
    assert json.loads((run.dir / "noise.json").read_text()) == result
    assert result["noise_scale"] == {**result["noise_scale"], "step": 81, "batches": 2 * 81}
    assert NoiseScale(**result["noise_scale"]).low is not None
    assert result["sentence"] in result.values()
    assert f"at the newest checkpoint of {run.id}, without training." in printed.err
    assert "plotly" in page.read_text()


def test_a_step_that_changes_weights_without_the_optimizer_is_refused(
    runs: dict[str, Trained],
) -> None:
    with pytest.raises(RunError, match=r"weights without model\.optimizer\. Let the optimizer"):
        measure_gradients(runs["by_hand"].run.dir, 8)
