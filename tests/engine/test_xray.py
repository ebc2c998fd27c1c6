"""The X-ray of a step: its record, the split over replicas, and the sum of gradients."""

import json
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.engine.training import Trained, train_together
from tests.forked import run_code
from workbench.config import RunConfig
from workbench.runs import RunError
from workbench.runs.programs.step_xray import StepXray
from workbench.runs.programs.xray import agrees

pytestmark = pytest.mark.slow

OWN = Path(__file__).parent / "own_models.py"
EXAMPLES, BATCH, CLIP = 203, 16, 0.01  # 12 whole batches, 11 remain
BASE: dict[str, Any] = {
    "synthetic_examples": EXAMPLES,
    "global_batch_size": BATCH,
    "epochs": 2,
    "gradient_norms": True,
}
EVEN = {**BASE, "synthetic_examples": EXAMPLES - 1}  # 10 remain, so each replica gets 5
# Each config with the step to X-ray: one starts at a checkpoint, one inside a stack.
CONFIGS = {
    "keep": (RunConfig(**BASE, last_batch="keep"), 13),
    "keep_fit": (RunConfig(**EVEN, last_batch="keep", loop="fit"), 26),
    "indexed": (RunConfig(**BASE, pipeline="indexed", loop="fit"), 16),
    "clipped": (RunConfig(**BASE, clip_norm=CLIP), 1),
    "central": (RunConfig(**BASE, strategy="central_storage", pipeline="indexed"), 1),
    "one": (RunConfig(**BASE, strategy="one_device"), 1),
    "files": (RunConfig(**BASE, pipeline="files", data_files=2), 14),
    "numpy": (RunConfig(**BASE, pipeline="numpy", loop="fit"), 4),
    "dropout": (RunConfig(**BASE, model=f"{OWN}:normalized"), 14),
    "compiled": (RunConfig(**BASE, model=f"{OWN}:regularized", xla=True), 14),
    "compiled_fit": (RunConfig(**BASE, model=f"{OWN}:regularized", loop="fit", xla=True), 14),
}
# Runs in its own process, because the engine loads TensorFlow. Example 4 equals example 9.
FIND_ROWS = """
import numpy as np
from workbench.engine.programs.batch_rows import find_rows
features, labels = np.arange(20.0).reshape(10, 2), np.arange(10)
features[9], labels[9] = features[4], labels[4]
received = [
    [(features[[7, 1]], labels[[7, 1]]), (features[[9]], labels[[9]])],
    [(features[[1, 2]], labels[[1, 2]]), (features[[4]], labels[[4]])],
    [(features[[7, 1]], labels[[7, 1]]), (features[[4]], labels[[5]])],
]
found = [find_rows(np.array([7, 1, 9]), [features, labels], each) for each in received]
"""
MIRRORED = ["keep", "keep_fit", "indexed", "clipped", "dropout", "compiled", "compiled_fit"]
PROMISED = "keep"
Take = Callable[[str], StepXray]


def promised(names: Iterable[str]) -> list[Any]:
    """Return names as parameters; one of them has the mark promise."""
    return [pytest.param(name, marks=[pytest.mark.promise] * (name == PROMISED)) for name in names]


class Runs(dict[str, Trained]):
    """The runs by name, trained on first access: the promised run, or all others together."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.configs = {name: config for name, (config, _) in CONFIGS.items()}
        self.configs["broken"] = RunConfig(**BASE)  # a test breaks its script after the training

    def __missing__(self, name: str) -> Trained:
        alike = [one for one in self.configs if (one == PROMISED) == (name == PROMISED)]
        self.update(train_together(self.root, {one: self.configs[one] for one in alike}))
        return self[name]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def take(runs: dict[str, Trained]) -> Take:
    """Return a function that takes the X-ray of a run once."""
    taken: dict[str, StepXray] = {}

    def once(name: str) -> StepXray:
        if name not in taken:
            assert runs[name].status == 0, runs[name].log
            taken[name] = runs[name].run.xray(CONFIGS[name][1])
        return taken[name]

    return once


@pytest.mark.parametrize("name", promised(CONFIGS))
def test_an_xray_has_the_numbers_that_the_run_recorded(
    name: str, runs: dict[str, Trained], take: Take
) -> None:
    xray, step = take(name), CONFIGS[name][1]
    assert xray.agrees is True
    frame = runs[name].run.replica_steps()
    recorded = frame[frame["step"] == step]
    means = [each.loss_sum / each.examples for each in xray.replicas]
    np.testing.assert_allclose(means, recorded["loss"], rtol=0, atol=1e-6)
    assert [each.examples for each in xray.replicas] == recorded["examples"].tolist()
    over_all = runs[name].run.steps()["loss"].to_numpy()[step - 1]
    assert xray.loss == pytest.approx(over_all, abs=1e-6)


@pytest.mark.parametrize("name", CONFIGS)
def test_the_norm_of_each_replicas_gradient_is_the_recorded_one(
    name: str, runs: Runs, take: Take
) -> None:
    frame = runs[name].run.replica_steps()
    recorded = frame[frame["step"] == CONFIGS[name][1]]["gradient_norm"]
    norms = [each.gradient_norm for each in take(name).replicas]
    np.testing.assert_allclose(norms, recorded, rtol=1e-6)


@pytest.mark.parametrize("name", CONFIGS)
def test_an_xray_detects_a_record_that_differs(name: str, take: Take) -> None:
    xray = take(name)
    row = [[each.loss_sum, each.correct, each.examples] for each in xray.replicas]
    assert agrees(xray.replicas, row) is True
    row[-1][0] += 2e-6 * row[-1][2]
    assert agrees(xray.replicas, row) is False


def test_each_example_goes_to_one_replica(take: Take) -> None:
    for name, shares in {"keep": [6, 5], "keep_fit": [5, 5], "indexed": [8, 8]}.items():
        rows = [each.rows for each in take(name).replicas]
        assert [len(each) for each in rows] == shares
        together = list(chain(*rows))
        assert len(set(together)) == len(together)
        assert set(together) <= set(range(EXAMPLES))


def test_the_same_step_has_the_same_examples_under_every_strategy(take: Take) -> None:
    (whole,) = take("one").replicas
    for name in ("clipped", "central"):
        assert list(chain(*(each.rows for each in take(name).replicas))) == whole.rows


def test_the_sum_over_replicas_is_the_gradient_of_the_whole_batch(take: Take) -> None:
    (whole,) = take("one").replicas
    for name in ("clipped", "central"):
        assert take(name).sum_norm == pytest.approx(whole.gradient_norm, rel=1e-5)
        norms = [each.gradient_norm for each in take(name).replicas]
        assert max(norms) < take(name).sum_norm < sum(norms)


def test_an_xray_has_an_applied_norm_only_if_the_gradient_is_clipped(take: Take) -> None:
    assert take("clipped").applied_norm == pytest.approx(CLIP, rel=1e-5)
    assert take("keep").applied_norm is None


@pytest.mark.parametrize("name", ["keep", "keep_fit"])
def test_the_losses_of_a_short_batch_are_weighted_by_examples(name: str, take: Take) -> None:
    xray = take(name)
    assert xray.divides_by_batch
    for each in xray.replicas:
        assert each.loss == pytest.approx(each.loss_sum / xray.examples, rel=1e-5)


@pytest.mark.parametrize("name", promised(MIRRORED))
def test_all_copies_of_the_weights_are_equal_and_changed(name: str, take: Take) -> None:
    weights = take(name).weights
    assert weights.equal
    assert weights.changed
    assert weights.differing == []
    assert [copy.device for copy in weights.after] == ["CPU:0", "CPU:1"]


def test_central_storage_has_one_copy_of_the_weights(take: Take) -> None:
    assert [copy.device for copy in take("central").weights.after] == ["CPU:0"]


def test_statistics_of_a_single_replica_are_not_compared_as_weights(take: Take) -> None:
    own = take("dropout").weights.own
    assert [name.rpartition("/")[2] for name in own] == ["moving_mean", "moving_variance"]
    assert take("keep").weights.own == []


def test_an_xray_starts_at_the_nearest_checkpoint_that_holds_all_state(take: Take) -> None:
    started = {name: take(name).started_at_step for name in CONFIGS}
    assert (started["keep"], started["keep_fit"], started["indexed"]) == (0, 13, 12)
    assert started["dropout"] == 12


def test_an_xray_changes_no_other_file_of_the_run(runs: dict[str, Trained], take: Take) -> None:
    folder = runs["keep_fit"].run.dir
    take("keep_fit")

    def files() -> dict[str, tuple[int, int]]:
        found = [(path, path.stat()) for path in folder.rglob("*") if "xray" not in path.name]
        return {str(path): (stat.st_size, stat.st_mtime_ns) for path, stat in found}

    before = files()
    runs["keep_fit"].run.xray(2)
    assert files() == before
    assert sorted(path.name for path in folder.glob("xray*")) == ["xray-1.json", "xray-25.json"]


def test_examples_are_found_outside_their_batch_too_and_unknown_ones_have_no_rows() -> None:
    code = f"{FIND_ROWS}\nimport json\nprint(json.dumps(found))"
    whole, others, mislabelled = json.loads(run_code(code).stdout)
    assert whole == [[7, 1], [9]]
    assert others == [[1, 2], [9]]
    assert mislabelled == [[7, 1], None]


def test_the_xray_of_a_failing_script_raises_its_reason(runs: dict[str, Trained]) -> None:
    run = runs["broken"].run
    script = run.dir / "train.py"
    script.write_text(run.script.replace("def make_model", "def make_no_model"))
    with pytest.raises(RunError, match=r"xray failed: .*make_model"):
        run.xray(1)
