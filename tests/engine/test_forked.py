"""What is forked is what it would have been cold: runs, and what is asked beside them."""

import dataclasses
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.engine.training import weights
from tests.machines import LAPTOP
from tests.runs.run_folders import event_of
from tests.waiting import LIMIT_SECONDS
from workbench.config import RunConfig
from workbench.experiments.agreement import certify
from workbench.forking import Forked, ForkServer, Order
from workbench.plan import make_plan
from workbench.runs import Run, start_run
from workbench.runs.processes.forks import loaded_ahead
from workbench.runs.programs import inspection, own_data

OWN = Path(__file__).parent
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
    assert begun(cold) == {"cold: as requested"}
    apart = 1e-6 if len(forked.tasks) > 1 else 0.0
    np.testing.assert_allclose(forked.steps()["loss"], cold.steps()["loss"], rtol=0, atol=apart)
    np.testing.assert_allclose(weights(forked), weights(cold), rtol=0, atol=apart)
    (start,) = (entry for entry in forked.ledger.first_step if entry.name == "start")
    assert start.label == "start (forked)"


@pytest.fixture
def forks(ahead: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The programs that processes of this test were forked for."""
    programs, fork = list[str](), ForkServer.fork

    def noted(server: ForkServer, order: Order) -> Forked:
        forked = fork(server, order)
        programs.append(order.arguments[1])
        return forked

    monkeypatch.setattr(ForkServer, "fork", noted)
    return programs


@pytest.mark.slow
@pytest.mark.parametrize("fields", [{}, WORKERS], ids=["alone", "workers"])
def test_what_is_asked_of_it_afterwards_is_the_same(
    ahead: Path, forks: list[str], fields: dict[str, Any]
) -> None:
    run = train(ahead, **fields)
    told = []
    for start in ("auto", "cold"):
        config = dataclasses.replace(run.config, start=start)
        (run.dir / "config.json").write_text(json.dumps(config.to_json()))
        told.append((run.xray(3), run.evaluate(), certify(run, [run])))
    assert told[0] == told[1]
    assert forks == ["xray"] * len(run.tasks) + ["evaluate", "certify"]


@pytest.mark.slow
def test_models_and_data_of_ones_own_are_looked_at_as_in_a_cold_process(
    forks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = RunConfig(data=f"{OWN / 'own_data_sets.py'}:pairs")
    model = RunConfig(model=f"{OWN / 'own_models.py'}:regularized")
    told = []
    for start in ("auto", "cold"):
        monkeypatch.setattr(own_data, "_found", {})
        inspection._inspect.cache_clear()
        plan = make_plan(dataclasses.replace(model, start=start), LAPTOP)
        told.append(
            (own_data.look(dataclasses.replace(data, start=start)), inspection.inspect_model(plan))
        )
    assert told[0] == told[1]
    assert forks == ["inspect_data", "inspect_model"]
