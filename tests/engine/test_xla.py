"""Steps compiled by XLA give the losses of steps without XLA, in both loops."""

from pathlib import Path

import numpy as np
import pytest

from tests.engine.training import Trained, train_together
from workbench.config import RunConfig
from workbench.runs.supervise.refused import explain_refused

pytestmark = pytest.mark.slow

FILE = Path(__file__).parent / "own_xla.py"
BASE = {"synthetic_examples": 320, "global_batch_size": 32, "epochs": 1}
LOOPS = ("custom", "fit")


@pytest.fixture(scope="module")
def runs(root: Path) -> dict[str, Trained]:
    configs = {"plain": RunConfig(**BASE), "own": RunConfig(**BASE, model=f"{FILE}:embedded")}
    for loop in LOOPS:
        for strategy in ("mirrored", "one_device"):
            fields = {**BASE, "xla": True, "loop": loop, "strategy": strategy}
            configs[f"plain-{strategy}-{loop}"] = RunConfig(**fields)
        configs[f"own-{loop}"] = RunConfig(**BASE, xla=True, loop=loop, model=f"{FILE}:embedded")
    configs["hashed"] = RunConfig(**BASE, xla=True, model=f"{FILE}:hashed")
    return train_together(root, configs)


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("kind", ["plain-mirrored", "plain-one_device", "own"])
def test_training_with_xla_gives_the_losses_of_training_without_it(
    kind: str, loop: str, runs: dict[str, Trained]
) -> None:
    compiled, plain = runs[f"{kind}-{loop}"], runs[kind.partition("-")[0]]
    assert compiled.status == plain.status == 0, compiled.log
    np.testing.assert_allclose(compiled.losses(), plain.losses(), rtol=0, atol=1e-6)
    assert compiled.traces == [1, 1]


def test_an_operation_without_a_kernel_is_named(runs: dict[str, Trained]) -> None:
    assert runs["hashed"].status == 1
    assert "AsString" in explain_refused(runs["hashed"].log)["cause"]
