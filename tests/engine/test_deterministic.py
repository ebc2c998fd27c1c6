"""Scripts with deterministic operations train as the others, and refuse what is never the same."""

from pathlib import Path

import numpy as np
import pytest

from tests.engine.training import Trained, train_together
from workbench import catalog
from workbench.config import RunConfig
from workbench.runs.supervise.refused import explain_refused

pytestmark = pytest.mark.slow

FILE = Path(__file__).parent / "own_steps.py"
BASE = {"synthetic_examples": 320, "global_batch_size": 32, "epochs": 1, "pipeline": "indexed"}
CALL = "tf.config.experimental.enable_op_determinism()"


@pytest.fixture(scope="module")
def runs(root: Path) -> dict[str, Trained]:
    """Train, the plain run first: determinism stays on in the process of all runs."""
    configs = {"plain": RunConfig(**BASE)}
    for loop in catalog.LOOPS:
        configs[loop] = RunConfig(**BASE, loop=loop, deterministic=True)
    configs["timed"] = RunConfig(**BASE, step=f"{FILE}:timed", deterministic=True)
    return train_together(root, configs)


@pytest.mark.parametrize("loop", catalog.LOOPS)
def test_deterministic_operations_give_the_losses_of_the_others_on_a_cpu(
    loop: str, runs: dict[str, Trained]
) -> None:
    found, plain = runs[loop], runs["plain"]
    assert CALL in found.run.script
    assert CALL not in plain.run.script
    assert found.status == plain.status == 0, found.log
    np.testing.assert_allclose(found.losses(), plain.losses(), rtol=0, atol=1e-6)


def test_an_operation_that_is_never_deterministic_ends_the_run_with_its_name(
    runs: dict[str, Trained],
) -> None:
    assert runs["timed"].status == 1
    assert explain_refused(runs["timed"].log)["cause"] == (
        "Timestamp has no deterministic version on this device."
    )
