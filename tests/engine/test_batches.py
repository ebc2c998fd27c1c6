"""The examples and the update of a step: last batches, clipping, learning rates, calls."""

import numpy as np
import pytest

from tests.engine.training import Trained, train_together, weights
from workbench.config import RunConfig

pytestmark = pytest.mark.slow

EXAMPLES, BATCH = 203, 16  # 12 whole batches, 11 remain
BASE = {"synthetic_examples": EXAMPLES, "global_batch_size": BATCH, "epochs": 2}
EVEN = {**BASE, "synthetic_examples": EXAMPLES - 1}  # 10 remain, so each replica gets 5
SGD = {**BASE, "optimizer": "sgd", "learning_rate": 0.5, "epochs": 1}
RATE, CLIP = 0.5, 0.01
STACKS = {**BASE, "synthetic_examples": 57 * BATCH, "pipeline": "indexed"}
CONFIGS = {
    "drop": RunConfig(**BASE),
    "keep": RunConfig(**BASE, last_batch="keep"),
    "keep_fit": RunConfig(**EVEN, last_batch="keep", loop="fit"),
    "keep_even": RunConfig(**EVEN, last_batch="keep"),
    "keep_one": RunConfig(**BASE, last_batch="keep", strategy="one_device"),
    "repeat": RunConfig(**BASE, last_batch="repeat"),
    "repeat_indexed": RunConfig(**BASE, last_batch="repeat", pipeline="indexed"),
    "files": RunConfig(**BASE, pipeline="files"),
    "numpy": RunConfig(**BASE, pipeline="numpy"),
    "files_repeat": RunConfig(**BASE, last_batch="repeat", pipeline="files", data_files=1),
    "files_beyond": RunConfig(**BASE, steps_per_epoch=30, pipeline="files", loop="fit"),
    "files_eager": RunConfig(**BASE, steps_per_epoch=4, pipeline="files", eager=True),
    "beyond": RunConfig(**BASE, steps_per_epoch=30),
    "short": RunConfig(**BASE, steps_per_epoch=5),
    "keep_few": RunConfig(**{**BASE, "synthetic_examples": 12 * BATCH + 2}, last_batch="keep"),
    "stacks": RunConfig(**STACKS),
    "one_a_call": RunConfig(**BASE, steps_per_call=1),
    "one_a_call_fit": RunConfig(**BASE, steps_per_call=1, loop="fit"),
    "seven_a_call_indexed": RunConfig(**BASE, steps_per_call=7, pipeline="indexed"),
    "epoch_a_call": RunConfig(**BASE, steps_per_call="epoch", loop="fit"),
    "epoch_a_call_indexed": RunConfig(**STACKS, steps_per_call="epoch"),
    "usual_57": RunConfig(**{**BASE, "synthetic_examples": 57 * BATCH}),
    "plain": RunConfig(**SGD),
    "clipped": RunConfig(**SGD, clip_norm=CLIP),
    "clipped_one": RunConfig(**SGD, clip_norm=CLIP, strategy="one_device"),
    "clipped_step": RunConfig(**SGD, clip_norm=CLIP, steps_per_epoch=1),
    "step": RunConfig(**SGD, steps_per_epoch=1),
    "still": RunConfig(**{**SGD, "learning_rate": 1e-12}, steps_per_epoch=1),
    "wide_clip": RunConfig(**SGD, clip_norm=1e6),
    "scaled": RunConfig(**{**SGD, "learning_rate": 0.25}, learning_rate_scaling="linear"),
    "momentum": RunConfig(**{**SGD, "optimizer": "momentum"}),
    "eager": RunConfig(**BASE, eager=True, steps_per_epoch=4),
    "eager_fit": RunConfig(**BASE, eager=True, steps_per_epoch=4, loop="fit"),
    "short_4": RunConfig(**BASE, steps_per_epoch=4),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trained]:
    return train_together(tmp_path_factory.mktemp("runs"), CONFIGS)


@pytest.mark.parametrize("name", CONFIGS)
def test_a_run_finishes_and_is_traced_at_most_once(name: str, runs: dict[str, Trained]) -> None:
    assert runs[name].status == 0, runs[name].log
    assert runs[name].traces == ([0, 0] if CONFIGS[name].eager else [1, 1])
    assert len(runs[name].events("traced")) == (0 if CONFIGS[name].eager else 1)


def same(one: Trained, other: Trained, tolerance: float = 1e-6) -> bool:
    return bool(np.allclose(one.losses(), other.losses(), rtol=0, atol=tolerance))


@pytest.mark.parametrize("name", ["drop", "files", "numpy"])
def test_drop_leaves_out_examples_that_do_not_fill_a_batch(
    name: str, runs: dict[str, Trained]
) -> None:
    assert runs[name].examples() == [[8, 8]] * 12 * 2


@pytest.mark.parametrize(("name", "rest"), [("keep", [6, 5]), ("keep_fit", [5, 5])])
def test_keep_trains_on_the_rest_in_a_shorter_step(
    name: str, rest: list[int], runs: dict[str, Trained]
) -> None:
    examples = runs[name].examples()
    assert examples[:12] == examples[13:25] == [[8, 8]] * 12
    assert examples[12] == examples[25] == rest


def test_keep_leaves_no_replica_empty(runs: dict[str, Trained]) -> None:
    assert runs["keep_few"].examples()[12] == [1, 1]
    assert np.isfinite(runs["keep_few"].losses()).all()


def test_a_kept_last_batch_weighs_the_same_on_two_replicas_as_on_one(
    runs: dict[str, Trained],
) -> None:
    assert same(runs["keep"], runs["keep_one"])
    assert same(runs["keep_fit"], runs["keep_even"])


def test_repeat_fills_the_last_batch_with_examples_of_the_next_shuffle(
    runs: dict[str, Trained],
) -> None:
    assert runs["repeat"].examples() == [[8, 8]] * 13 * 2
    assert same(runs["repeat"], runs["repeat_indexed"])


def test_whole_batches_are_the_same_whether_the_rest_is_kept_or_left_out(
    runs: dict[str, Trained],
) -> None:
    first = runs["drop"].losses()[:12]
    np.testing.assert_allclose(runs["keep"].losses()[:12], first, rtol=0, atol=1e-6)
    np.testing.assert_allclose(runs["short"].losses()[:5], first[:5], rtol=0, atol=1e-6)


def test_more_steps_than_the_data_fill_repeat_the_data_and_fewer_end_the_epoch(
    runs: dict[str, Trained],
) -> None:
    assert len(runs["beyond"].losses()) == len(runs["files_beyond"].losses()) == 60
    assert len(runs["files_repeat"].losses()) == 26
    assert len(runs["short"].losses()) == 10
    assert runs["beyond"].events("epoch")[0]["step"] == 30


def test_stacks_that_do_not_divide_an_epoch_give_the_same_batches(
    runs: dict[str, Trained],
) -> None:
    assert runs["stacks"].plan.steps_per_stack == 29
    assert same(runs["stacks"], runs["usual_57"])


@pytest.mark.parametrize("name", ["one_a_call", "one_a_call_fit", "seven_a_call_indexed"])
def test_the_number_of_steps_per_call_changes_only_the_calls(
    name: str, runs: dict[str, Trained]
) -> None:
    assert same(runs[name], runs["drop"])
    per_call = CONFIGS[name].steps_per_call
    longest = max(_steps_of_calls(runs[name]))
    assert longest <= per_call
    assert longest == per_call or per_call > 1


def test_a_whole_epoch_is_one_call_even_if_its_last_stack_is_not_full(
    runs: dict[str, Trained],
) -> None:
    assert same(runs["epoch_a_call"], runs["drop"])
    assert same(runs["epoch_a_call_indexed"], runs["stacks"])
    for name in ("epoch_a_call", "epoch_a_call_indexed"):
        assert runs[name].plan.graph_steps >= runs[name].plan.steps_per_epoch


def _steps_of_calls(trained: Trained) -> list[int]:
    rows = np.fromfile(trained.run.dir / "worker-0" / "calls.f8", "<f8").reshape(-1, 4)
    return rows[1:, 1].astype(int).tolist()


@pytest.mark.parametrize("name", ["eager", "eager_fit"])
def test_eager_execution_gives_the_same_losses_with_one_step_per_call(
    name: str, runs: dict[str, Trained]
) -> None:
    assert same(runs[name], runs["short_4"])
    assert set(_steps_of_calls(runs[name])) == {1}


def test_clipping_bounds_the_norm_of_the_gradient_over_all_replicas(
    runs: dict[str, Trained],
) -> None:
    start = weights(runs["still"].run)
    moved = {name: weights(runs[name].run) - start for name in ("step", "clipped_step")}
    assert np.linalg.norm(moved["step"]) > 2 * RATE * CLIP
    assert np.linalg.norm(moved["clipped_step"]) == pytest.approx(RATE * CLIP, rel=1e-3)
    shrunk = moved["step"] * RATE * CLIP / np.linalg.norm(moved["step"])
    np.testing.assert_allclose(moved["clipped_step"], shrunk, rtol=0, atol=1e-6)


def test_clipping_is_the_same_on_two_replicas_as_on_one(runs: dict[str, Trained]) -> None:
    assert same(runs["clipped"], runs["clipped_one"])
    assert not same(runs["clipped"], runs["plain"], 1e-4)
    assert same(runs["wide_clip"], runs["plain"])


def test_scaling_multiplies_the_learning_rate_by_the_replicas(runs: dict[str, Trained]) -> None:
    assert runs["scaled"].plan.learning_rate == RATE
    assert same(runs["scaled"], runs["plain"], 0)


def test_momentum_differs_from_plain_gradient_descent(runs: dict[str, Trained]) -> None:
    assert runs["momentum"].losses()[0] == runs["plain"].losses()[0]
    assert not same(runs["momentum"], runs["plain"], 1e-4)
