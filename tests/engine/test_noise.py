"""The noise scale of real runs against that of each example's own gradient, by brute force."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.engine.training import Trained, train_together
from workbench.cli import main
from workbench.config import RunConfig
from workbench.experiments.noise_scale import NoiseScale, estimate
from workbench.runs import RunError
from workbench.runs.programs.noise import Gradients, measure_gradients

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
EXAMPLES, BATCH = 1_300, 16  # 81 whole batches, 4 left
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
    folders = [str(runs[name].run.dir) for name in names]
    command = [sys.executable, "-m", "tests.engine.true_noise", str(EXAMPLES), *folders]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE.parents[1])
    assert done.returncode == 0, done.stderr[-4000:]
    return dict(zip(names, map(json.loads, done.stdout.splitlines()), strict=True))


@pytest.mark.parametrize("name", ["mirrored", "one"])
def test_its_interval_holds_what_each_examples_own_gradient_gives(
    name: str, measured: dict[str, tuple[Gradients, ...]], truth: dict[str, dict[str, float]]
) -> None:
    found, true = estimate(measured[name][-1]), truth[name]
    assert found.low is not None
    assert found.high is not None
    assert found.low < true["examples"] < found.high
    assert found.noise == pytest.approx(true["noise"], rel=0.25)
    assert found.squared_gradient == pytest.approx(true["squared_gradient"], rel=0.5)


def test_one_replica_is_enough(measured: dict[str, tuple[Gradients, ...]]) -> None:
    (alone,), (*_, two) = measured["one"], measured["mirrored"]
    assert alone.squared_norms.shape == (STEPS, 1)
    assert two.squared_norms.shape == (STEPS, 2)
    assert (alone.per_replica_batch_size, two.per_replica_batch_size) == (BATCH, BATCH // 2)


def test_the_same_batches_have_the_same_mean_gradients_whatever_the_strategy(
    measured: dict[str, tuple[Gradients, ...]],
) -> None:
    """And `fit` and the custom loop weigh them alike."""
    alone, two = measured["one"][-1], measured["mirrored"][-1]
    np.testing.assert_allclose(alone.products, two.products, rtol=1e-3, atol=1e-6)
    assert len(alone.products) == 20  # groups of two steps
    assert alone.weights == two.weights


def test_it_is_told_at_the_first_weights_and_each_checkpoint_in_order(
    measured: dict[str, tuple[Gradients, ...]],
) -> None:
    steps = [each.step for each in measured["mirrored"]]
    assert (steps[0], steps[-1]) == (0, EXAMPLES // BATCH)
    first, last = (measured["mirrored"][at].squared_norms for at in (0, -1))
    assert not np.allclose(first, last, rtol=0.01)


def test_from_a_terminal_it_answers_in_a_sentence_and_numbers(
    runs: dict[str, Trained], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a model with Dropout and batch normalization, whose batches come in stacks."""
    run, page = runs["normalized"].run, tmp_path / "scale.html"
    words = ["scale", str(run.dir), "--steps", "1000", "--json", "--html", str(page)]
    assert main(words) == 0
    printed = capsys.readouterr()
    told = json.loads(printed.out)
    assert json.loads((run.dir / "noise.json").read_text()) == told
    assert told["noise_scale"] == {**told["noise_scale"], "step": 81, "batches": 2 * 81}
    assert NoiseScale(**told["noise_scale"]).low is not None
    assert told["sentence"] in told.values()
    assert f"at the newest checkpoint of {run.id}, without training." in printed.err
    assert "plotly" in page.read_text()


def test_a_step_that_changes_weights_past_the_optimizer_is_refused(
    runs: dict[str, Trained],
) -> None:
    with pytest.raises(RunError, match=r"changed them past model\.optimizer\. Have the optimizer"):
        measure_gradients(runs["by_hand"].run.dir, 8)
