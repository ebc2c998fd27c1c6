"""A run whose TensorFlow was loaded ahead is the run it would have been."""

import sys
from pathlib import Path

import numpy as np
import pytest

from tests.engine.training import weights
from tests.waiting import LIMIT_SECONDS, until
from workbench.config import RunConfig
from workbench.devices import detect
from workbench.runs import WarmStart, start_run

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("loop", ["custom", "fit"])
def test_it_gives_the_same_losses_and_model(
    loop: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_STATE", str(tmp_path / "state"))
    config = RunConfig(synthetic_examples=640, epochs=2, loop=loop, start_now=True)
    devices = detect(import_tensorflow=False)
    warm = WarmStart(sys.executable)
    until(lambda: warm.ready)
    folder = tmp_path / "runs"
    runs = [start_run(config, folder, devices, warm=warm), start_run(config, folder, devices)]
    assert [run.wait(LIMIT_SECONDS) for run in runs] == ["finished", "finished"], runs[0].log()
    ahead, cold = runs
    np.testing.assert_allclose(ahead.steps()["loss"], cold.steps()["loss"], rtol=0, atol=1e-6)
    np.testing.assert_allclose(weights(ahead), weights(cold), rtol=0, atol=1e-5)
