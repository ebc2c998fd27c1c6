"""What is done with a trained model: a test in a child of the run's interpreter, and loading it."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from .directory import RunError
from .programs import run_program

MODEL = "model.keras"


def evaluate(run_dir: Path) -> dict[str, Any]:
    """Test the saved model on the run's test data and return what was measured.

    A process of the run's interpreter does it, writes evaluation.json and predictions.npz beside
    the model, and prints one line of JSON, returned here. It takes the time it takes.

    Raises:
        RunError: there is no model yet, or the test fails.
    """
    _require_model(run_dir)
    return run_program(run_dir, "evaluate")


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
