"""Both loops give the losses and weights of a NumPy float64 training without common code."""

import functools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.engine.numpy_training import Rule, train
from tests.engine.training import Trained, train_together, weights
from tests.forked import run_program
from workbench.config import RunConfig

pytestmark = pytest.mark.slow

BEGIN, MODELS = Path(__file__).parent / "begin_runs.py", Path(__file__).parent / "own_models.py"
EXAMPLES, EVEN, BATCH, EPOCHS, RATE, CLIP = 79, 80, 12, 3, 0.25, 0.125
REPLICAS, SPLIT_OF_REST = 4, [2, 2, 2, 1]
"""79 is 6 batches of 12 and a rest of 7. With three replicas, Keras rounds 1/3 to float32.

`fit` needs equal parts for all replicas, as of a rest of 8.
"""
BASE = {
    "synthetic_examples": EXAMPLES, "global_batch_size": BATCH, "epochs": EPOCHS,
    "optimizer": "momentum", "learning_rate": RATE, "precision": "float64",
    "last_batch": "keep", "replicas": REPLICAS,
}  # fmt: skip
OWN = {"model": f"{MODELS}:regularized"}
RUNS = {
    "custom": RunConfig(**BASE, clip_norm=CLIP),
    "fit": RunConfig(**{**BASE, "synthetic_examples": EVEN}, loop="fit"),
    "own-custom": RunConfig(**BASE, **OWN, clip_norm=CLIP),
    "own-fit": RunConfig(**{**BASE, "synthetic_examples": EVEN}, **OWN, loop="fit"),
    "own-one": RunConfig(**{**BASE, "replicas": None}, **OWN, strategy="one_device"),
}


PROMISED = ("custom", "own-fit")


@pytest.fixture(scope="module")
def train_one(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Trained]:
    """Return a function that gives the run of a name, with its first weights and its orders."""

    @functools.cache
    def trained(name: str) -> Trained:
        (run,) = train_together(tmp_path_factory.mktemp("runs"), {name: RUNS[name]}).values()
        run_program([BEGIN, run.run.dir])
        return run

    return trained


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.promise] * (name in PROMISED)) for name in RUNS]
)
def test_numpy_gives_the_same_training_with_penalty_momentum_clipping_and_uneven_batches(
    name: str, train_one: Callable[[str], Trained]
) -> None:
    trained, config = train_one(name), RUNS[name]
    assert trained.status == 0, trained.log
    begin = np.load(trained.run.dir / "begin.npz")
    first = [begin[key] for key in sorted(begin) if key.startswith("weight_")]
    starts = range(0, config.synthetic_examples, BATCH)
    steps = [order[start : start + BATCH] for order in begin["orders"] for start in starts]
    rule = Rule(RATE, l2=0.01 if config.model else 0.0, clip_norm=config.clip_norm)
    features, labels = (begin[key].astype(np.float64) for key in ("features", "labels"))
    losses, last = train(first, features, labels, steps, rule)
    np.testing.assert_allclose(trained.losses(), losses, rtol=0, atol=1e-7)
    found = weights(trained.run)
    np.testing.assert_allclose(found, np.concatenate([w.ravel() for w in last]), rtol=0, atol=1e-7)


def test_the_last_batch_is_uneven(train_one: Callable[[str], Trained]) -> None:
    for name in ("custom", "own-custom"):
        assert train_one(name).examples()[6] == SPLIT_OF_REST
    for name in ("fit", "own-fit"):
        assert train_one(name).examples()[6] == [2, 2, 2, 2]
