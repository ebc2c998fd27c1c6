"""Uses of a trained model: a test in a process of the run's interpreter, and loading it."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from workbench.runs.folder.files import RunError, read_json
from workbench.runs.folder.state import attempt_events
from workbench.runs.folder.unwritten import why_no_model

from .run import run_program

MODEL = "model.keras"


def evaluate(run_dir: Path) -> dict[str, Any]:
    """Test the saved model on the run's test data and return the measured values.

    A process of the run's interpreter runs the test. It writes evaluation.json and predictions.npz
    next to the model, and prints one line of JSON, which is returned here. There is no time limit.

    Raises:
        RunError: there is no model yet, or the test fails.
    """
    _require_model(run_dir)
    return run_program(run_dir, "evaluate")


def load_model(run_dir: Path) -> Any:
    """Return the run's saved Keras model, loaded in this process.

    Raises:
        RunError: there is no model yet, or TensorFlow or the Keras that saved the model is not
            installed here.
    """
    _require_model(run_dir)
    legacy = read_json(run_dir / "plan.json").get("keras") == "legacy"
    package = "tf_keras" if legacy else "tensorflow"
    try:
        module = importlib.import_module(package)
    except ImportError as error:
        raise RunError(
            f"Loading this model needs {package} in the calling Python; {sys.executable}: "
            f"{error}. Install it there ({sys.executable} -m pip install "
            f"{package.replace('_', '-')}), or use evaluate()."
        ) from error
    keras = module if legacy else module.keras
    return keras.models.load_model(run_dir / MODEL)


def _require_model(run_dir: Path) -> None:
    if (run_dir / MODEL).is_file():
        return
    if why := why_no_model(attempt_events(run_dir)):
        raise RunError(
            f"A run saves its model when it finishes; {run_dir} has no {MODEL}. {why} Fix that, "
            "then resume the run for one more epoch, which saves it again."
        )
    raise RunError(
        f"A run saves its model when it finishes; {run_dir} has no {MODEL}. "
        "Let the run finish, or resume it."
    )
