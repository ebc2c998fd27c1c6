"""The errors of testing and loading a model that cannot be tested or loaded."""

import sys
from pathlib import Path

import pytest

from tests.runs.run_folders import Runs
from workbench.runs import RunError


def test_a_run_without_a_model_is_refused(runs: Runs) -> None:
    run = runs.make()
    for action in (run.evaluate, run.load_model):
        with pytest.raises(RunError, match=r"has no model\.keras.*Let the run finish"):
            action()


def test_a_missing_interpreter_is_named(runs: Runs, tmp_path: Path) -> None:
    run = runs.make(interpreter=str(tmp_path / "python"))
    (run.dir / "model.keras").touch()
    with pytest.raises(RunError, match=f"{tmp_path / 'python'}.*Put that interpreter back"):
        run.evaluate()


def test_the_end_of_the_log_of_a_failed_test_is_reported(runs: Runs, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    bare.chmod(0o755)
    run = runs.make(interpreter=str(bare))
    (run.dir / "model.keras").touch()
    with pytest.raises(RunError, match=r"one line of JSON.*No module named") as raised:
        run.evaluate()
    assert "pip install" in str(raised.value) or "Install the package" in str(raised.value)
