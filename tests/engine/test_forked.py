"""Forked processes give the results of cold ones: runs, and programs about runs."""

import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.engine.training import weights
from tests.machines import LAPTOP
from tests.runs.run_folders import event_of, replan
from tests.waiting import LIMIT_SECONDS
from workbench import devices
from workbench.config import RunConfig
from workbench.devices import Devices
from workbench.devices.nvidia import NvidiaGpu
from workbench.experiments.agreement import certify
from workbench.forking import ColdError, Forked, ForkServer, Order
from workbench.plan import make_plan
from workbench.runs import Run, start_run
from workbench.runs.processes.forks import loaded_ahead
from workbench.runs.programs import detection, inspection, own_data
from workbench.runs.programs.detection import detect_devices

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


def ways_of_start(run: Run) -> set[str]:
    event = event_of(run, "begun")
    assert event is not None
    assert set(event["how"]) == set(run.tasks)
    return set(event["how"].values())


@pytest.mark.slow
@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({}, id="custom"),
        pytest.param({"loop": "fit"}, id="fit"),
        pytest.param(WORKERS, id="workers", marks=pytest.mark.promise),
    ],
)
def test_a_forked_run_gives_the_losses_and_model_of_a_cold_run(
    ahead: Path, fields: dict[str, Any]
) -> None:
    forked, cold = train(ahead, **fields), train(ahead, start="cold", **fields)
    assert ways_of_start(forked) == {"forked"}
    assert ways_of_start(cold) == {"cold: as requested"}
    tolerance = 1e-6 if len(forked.tasks) > 1 else 0.0
    np.testing.assert_allclose(forked.steps()["loss"], cold.steps()["loss"], rtol=0, atol=tolerance)
    np.testing.assert_allclose(weights(forked), weights(cold), rtol=0, atol=tolerance)
    (start,) = (entry for entry in forked.ledger.first_step if entry.name == "start")
    assert start.label == "start (forked)"


@pytest.fixture
def forks(ahead: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The programs for which this test forked processes, or the reasons for cold starts."""
    programs, fork = list[str](), ForkServer.fork

    def recorded_fork(server: ForkServer, order: Order) -> Forked:
        try:
            forked = fork(server, order)
        except ColdError as error:
            programs.append(f"cold: {error}")
            raise
        programs.append(order.arguments[1])
        return forked

    monkeypatch.setattr(ForkServer, "fork", recorded_fork)
    return programs


@pytest.mark.slow
@pytest.mark.parametrize("fields", [{}, WORKERS], ids=["alone", "workers"])
def test_xray_evaluation_and_certificate_are_the_same_forked_and_cold(
    ahead: Path, forks: list[str], fields: dict[str, Any]
) -> None:
    run = train(ahead, **fields)
    results = []
    for start in ("auto", "cold"):
        replan(run, config=dataclasses.replace(run.config, start=start))
        results.append((run.xray(3), run.evaluate(), certify(run, [run])))
    assert results[0] == results[1]
    assert forks == ["xray"] * len(run.tasks) + ["evaluate", "certify"]


@pytest.mark.slow
def test_inspections_of_own_models_and_data_are_the_same_forked_and_cold(
    forks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = RunConfig(data=f"{OWN / 'own_data_sets.py'}:pairs")
    model = RunConfig(model=f"{OWN / 'own_models.py'}:regularized")
    results = []
    for start in ("auto", "cold"):
        monkeypatch.setattr(own_data, "_found", {})
        inspection._inspect.cache_clear()
        plan = make_plan(dataclasses.replace(model, start=start), LAPTOP)
        results.append(
            (
                own_data.inspect_data(dataclasses.replace(data, start=start)),
                inspection.inspect_model(plan),
            )
        )
    assert results[0] == results[1]
    assert forks == ["inspect_data", "inspect_model"]


@pytest.mark.slow
def test_the_devices_found_are_the_same_forked_and_cold(
    forks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    detect, forked = devices.detect, list[bool]()

    def recorded_detect(*arguments: Any, **options: Any) -> Devices:
        forked.append("begin" in options)
        return detect(*arguments, **options)

    monkeypatch.setattr(devices, "detect", recorded_detect)
    found = detect_devices()
    assert (forks, forked) == (["import"], [True])
    monkeypatch.setattr(detection, "driver_gpus", lambda: (NvidiaGpu("Tesla T4"),))
    assert detect_devices() == found
    # TensorFlow lists no GPU: the log of a cold start gives the reason.
    assert (forks, forked) == (["import"] * 2, [True, True, False])
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    detect_devices()
    assert forked[3:] == [True]
