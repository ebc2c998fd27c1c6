"""A run whose processes are forked is the run it would have been cold."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.engine.training import weights
from tests.machines import LAPTOP
from tests.runs.folder import event_of
from tests.waiting import LIMIT_SECONDS
from workbench.config import RunConfig
from workbench.runs import Run, start_run
from workbench.runs.forks import loaded_ahead

WORKERS = {"strategy": "multi_worker_mirrored", "workers": 2}


@pytest.fixture(scope="module")
def ahead(root: Path) -> Iterator[Path]:
    with loaded_ahead(sys.executable):
        yield root


def train(root: Path, **fields: Any) -> Run:
    config = RunConfig(synthetic_examples=640, epochs=2, start_now=True, **fields)
    run = start_run(config, root, LAPTOP)
    assert run.wait(LIMIT_SECONDS) == "finished", run.failure
    return run


def begun(run: Run) -> set[str]:
    told = event_of(run, "begun")
    assert told is not None
    assert set(told["how"]) == set(run.tasks)
    return set(told["how"].values())


@pytest.mark.slow
@pytest.mark.promise
@pytest.mark.parametrize("fields", [{}, {"loop": "fit"}, WORKERS], ids=["custom", "fit", "workers"])
def test_it_gives_the_same_losses_and_model(ahead: Path, fields: dict[str, Any]) -> None:
    forked, cold = train(ahead, **fields), train(ahead, start="cold", **fields)
    assert begun(forked) == {"forked"}
    assert begun(cold) == {"cold: as was asked for"}
    apart = 1e-6 if len(forked.tasks) > 1 else 0.0
    np.testing.assert_allclose(forked.steps()["loss"], cold.steps()["loss"], rtol=0, atol=apart)
    np.testing.assert_allclose(weights(forked), weights(cold), rtol=0, atol=apart)
    (start,) = (entry for entry in forked.ledger.first_step if entry.name == "start")
    assert start.label == "start (forked)"
