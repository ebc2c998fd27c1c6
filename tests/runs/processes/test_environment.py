"""The environment of a run's processes: who shares the cores of this machine."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.machines import LAPTOP
from workbench import RunConfig, make_plan
from workbench.runs.processes.environment import Launch

CORES = os.cpu_count() or 1


@pytest.mark.parametrize(
    ("fields", "sharing"),
    [
        ({"strategy": "mirrored", "replicas": 2}, 2),
        ({"strategy": "multi_worker_mirrored", "workers": 2}, 2),
    ],
)
def test_replicas_that_step_together_on_a_cpu_share_its_cores(
    fields: dict[str, Any], sharing: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TF_NUM_INTRAOP_THREADS", raising=False)
    launch = Launch.of_plan(make_plan(RunConfig(**fields), LAPTOP), tmp_path)
    assert launch.environment()["TF_NUM_INTRAOP_THREADS"] == str(max(1, CORES // sharing))
    monkeypatch.setenv("TF_NUM_INTRAOP_THREADS", "3")
    assert launch.environment()["TF_NUM_INTRAOP_THREADS"] == "3"


@pytest.mark.parametrize(
    "fields",
    [
        {"strategy": "one_device"},
        {"strategy": "parameter_server", "workers": 2},
        {"strategy": "multi_worker_mirrored", "workers": 2, "launcher": "slurm"},
    ],
)
def test_other_tasks_use_all_cores(
    fields: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TF_NUM_INTRAOP_THREADS", raising=False)
    launch = Launch.of_plan(make_plan(RunConfig(**fields), LAPTOP), tmp_path)
    assert "TF_NUM_INTRAOP_THREADS" not in launch.environment()
