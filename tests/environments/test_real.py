"""A real TensorFlow from the package index in a new environment, and a run that trains with it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.waiting import LIMIT_SECONDS
from workbench import RunConfig, start_run
from workbench.devices import detect
from workbench.environments import BUILDS, make_environment


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the build for the CPU exists only for Linux")
def test_a_run_trains_in_an_environment_that_was_made_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    build = BUILDS["cpu"]
    made = make_environment(build, None, tmp_path / "environments")
    used = sum(path.lstat().st_size for path in Path(made.interpreter).parents[1].rglob("*"))
    assert used < build.disk_bytes
    devices = detect(made.interpreter)
    assert (devices.tensorflow_version, devices.problems) == (build.version, ())
    config = RunConfig(
        interpreter=made.interpreter, epochs=1, synthetic_examples=640, start_now=True
    )
    run = start_run(config, tmp_path / "runs", devices)
    assert run.wait(LIMIT_SECONDS) == "finished", run.failure
    assert make_environment(build, None, tmp_path / "environments").reused
