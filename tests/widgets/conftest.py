"""Fixtures for all tests of the views."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep locks of runs inside the test's folder."""
    monkeypatch.setenv("WORKBENCH_STATE", str(tmp_path / "state"))
