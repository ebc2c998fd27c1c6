"""What is done with a trained model: a test in a child of the run's interpreter, and loading it."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import workbench

from .directory import RunError, read_json
from .failure import explain
from .launch import Launch

EVALUATE = Path(workbench.__file__).parent / "engine" / "evaluate.py"
MODEL = "model.keras"


def evaluate(run_dir: Path) -> dict[str, Any]:
    """Test the saved model on the run's test data and return what was measured.

    A process of the run's interpreter does it, writes evaluation.json and predictions.npz beside
    the model, and prints one line of JSON, returned here. It takes the time it takes.

    Raises:
        RunError: there is no model yet, or the test fails.
    """
    _require_model(run_dir)
    launch = Launch.of(run_dir, read_json(run_dir / "run.json"), read_json(run_dir / "plan.json"))
    child = _run_child(launch, run_dir)
    try:
        values = json.loads(child.stdout.strip().rpartition("\n")[2])
    except ValueError:
        values = None
    if child.returncode or not isinstance(values, dict):
        reason = explain(child.returncode, [], child.stderr, launch.interpreter)
        raise RunError(
            f"A test prints one line of JSON; {EVALUATE.name} failed: {reason['cause']} "
            f"{reason['fix']}\n{child.stderr[-2000:]}"
        )
    return values


def _run_child(launch: Launch, run_dir: Path) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            [launch.interpreter, "-u", str(EVALUATE), str(run_dir.absolute())],
            cwd=launch.working_dir,
            env=launch.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise RunError(
            f"A model is tested by the run's interpreter; {launch.interpreter}: {error.strerror}. "
            "Put that interpreter back, or load the model with load_model()."
        ) from error


def load_model(run_dir: Path) -> Any:
    """Return the run's saved Keras model, loaded in this process.

    Raises:
        RunError: there is no model yet, or TensorFlow is not installed here.
    """
    _require_model(run_dir)
    try:
        tensorflow = importlib.import_module("tensorflow")
    except ImportError as error:
        raise RunError(
            f"Loading a model needs TensorFlow in the Python that asks; {sys.executable}: {error}. "
            f"Install it there ({sys.executable} -m pip install tensorflow), or use evaluate()."
        ) from error
    return tensorflow.keras.models.load_model(run_dir / MODEL)


def _require_model(run_dir: Path) -> None:
    if not (run_dir / MODEL).is_file():
        raise RunError(
            f"A run saves its model when it finishes; {run_dir} has no {MODEL}. "
            "Let the run finish, or resume it."
        )
