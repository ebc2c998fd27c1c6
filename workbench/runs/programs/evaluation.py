"""Uses of a trained model: a test in a process of the run's interpreter, and loading it."""

from __future__ import annotations

import importlib
import json
import shlex
import sys
from pathlib import Path
from typing import Any

from workbench.runs.folder.checkpoints import FOLDER, STATE, last_whole_step
from workbench.runs.folder.events import read_events
from workbench.runs.folder.files import RunError
from workbench.runs.folder.plan import read_plan
from workbench.runs.folder.state import LIVE, alive_error, attempt_events, status
from workbench.runs.folder.unwritten import why_no_model

from .run import run_program

MODEL = "model.keras"


def evaluate(run_dir: Path) -> dict[str, Any]:
    """Test the run's model on its test data and return the measured values.

    A process of the run's interpreter runs the test. It writes evaluation.json and predictions.npz
    into the run folder, and prints one line of JSON, which is returned here; `checkpoint_step` in
    it is the result of `evaluated_step`. There is no time limit.

    Raises:
        RunError: nothing can be evaluated yet, or the test fails.
    """
    step = evaluated_step(run_dir)
    return run_program(run_dir, "evaluate", *([] if step is None else [str(step)]))


def evaluated_step(run_dir: Path) -> int | None:
    """Return the step of the checkpoint whose weights `evaluate` tests; None: the saved model.

    It is the last complete checkpoint of a run that was stopped, failed or is lost, or that could
    not save its model.

    Raises:
        RunError: the run is alive, it has no complete checkpoint, or its data has nothing to
            test on.
    """
    if not read_plan(run_dir).is_tested:
        raise RunError(
            f"{run_dir} cannot be evaluated: its data has nothing to test on. Have the function "
            "of the data return examples to test on, too, or set a validation split. Then start a "
            "new run."
        )
    state, finished = status(run_dir), _has_finished(run_dir)
    if state in LIVE:
        raise alive_error(run_dir, "evaluated")
    if finished and (run_dir / MODEL).is_file():
        return None
    try:
        step = last_whole_step(run_dir)
    except OSError as error:
        raise RunError(
            f"The checkpoints in {run_dir / FOLDER} cannot be read: {error.strerror}. "
            "Give yourself permission to read them."
        ) from error
    if step is None and finished:
        _require_model(run_dir)
    if step is None:
        raise RunError(
            f"There are no weights to evaluate yet: {run_dir} is {state}, and no checkpoint of it "
            "is complete. Resume it, then let it finish or stop it: both save its weights."
        )
    return step


def saved_evaluation(run_dir: Path, step: int | None) -> dict[str, Any] | None:
    """Return the last evaluation; None if it tested other weights than those of `evaluated_step`.

    Evaluations of earlier releases do not name a checkpoint.
    """
    made = run_dir / "evaluation.json"
    weights = run_dir / MODEL if step is None else run_dir / FOLDER / STATE
    try:
        newer = made.stat().st_mtime > weights.stat().st_mtime
        kept: dict[str, Any] = json.loads(made.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return kept if newer and kept.get("checkpoint_step") == step else None


def _has_finished(run_dir: Path) -> bool:
    """Return whether the last attempt that opened the model went to its end, and so saved it."""
    events = read_events(run_dir / read_plan(run_dir).leader / "events.jsonl")
    names = [event["event"] for event in events if event["event"] in ("start", "finished")]
    return names[-1:] == ["finished"]


def weights_in_words(step: int | None) -> str:
    """Return the weights of an evaluation in words; `step` is as from `evaluated_step`."""
    if step is None:
        return "the saved model"
    return f"the weights of step {step:,}, the last checkpoint"


def load_model(run_dir: Path) -> Any:
    """Return the run's saved Keras model, loaded in this process.

    Raises:
        RunError: there is no model yet, or TensorFlow or the Keras that saved the model is not
            installed here.
    """
    _require_model(run_dir)
    legacy = read_plan(run_dir).legacy_keras
    package = "tf_keras" if legacy else "tensorflow"
    try:
        module = importlib.import_module(package)
    except ImportError as error:
        raise RunError(
            f"Loading this model needs {package}, which {sys.executable} cannot import: "
            f"{error}. Install it there ({shlex.quote(sys.executable)} -m pip install "
            f"{package.replace('_', '-')}), or use evaluate()."
        ) from error
    keras = module if legacy else module.keras
    return keras.models.load_model(run_dir / MODEL)


def _require_model(run_dir: Path) -> None:
    if (run_dir / MODEL).is_file():
        return
    if why := why_no_model(attempt_events(run_dir)):
        raise RunError(
            f"{run_dir} has no {MODEL}. {why} Fix that, "
            "then resume the run for one more epoch, which saves it again."
        )
    raise RunError(
        f"{run_dir} has no {MODEL}: a run saves its model when it finishes. "
        "Let the run finish, or resume it."
    )
