"""A real Jupyter server with the workbench's extension, and a folder with runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pytest_jupyter.jupyter_core import *  # noqa: F403
from pytest_jupyter.jupyter_server import *  # noqa: F403

from tests.widgets.folders import write_run
from workbench.runs import Run


@pytest.fixture
def jp_server_config() -> dict[str, Any]:
    return {"ServerApp": {"jpserver_extensions": {"workbench.server": True}}}


@pytest.fixture
def runs_dir(jp_root_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("WORKBENCH_RUNS", raising=False)
    folder = jp_root_dir / "runs"
    folder.mkdir()
    return folder


@pytest.fixture
def run(runs_dir: Path) -> Run:
    """A run with written files, which no process trains."""
    return write_run(runs_dir, steps=20)
