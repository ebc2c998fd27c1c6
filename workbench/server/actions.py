"""The actions on runs and tasks that a page may request, and the export of a run's script."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from workbench.config import ConfigError
from workbench.runs import Run, RunError
from workbench.runs.consent import foreign_code
from workbench.runs.folder.files import SCRIPT, sha256

from .errors import RequestError

FOREIGN_CODE = "foreign_code"
"""The reason of a refusal: a person must agree to the code that the action executes."""


@contextmanager
def refusing() -> Iterator[None]:
    """Turn errors of configs and runs into a `RequestError` for the page."""
    try:
        yield
    except ConfigError as error:
        problems = [asdict(problem) for problem in error.problems]
        raise RequestError(400, str(error), {"problems": problems}) from error
    except RunError as error:
        raise RequestError(409, str(error)) from error


def stop(run: Run, _: dict[str, Any]) -> None:
    """Ask the run to save and end."""
    with refusing():
        run.stop()


def kill(run: Run, asked: dict[str, Any]) -> None:
    """Kill the task that `asked` names as `task`; it, or all tasks, start again."""
    with refusing():
        run.kill(str(asked.get("task", "")))


def resume(run: Run, asked: dict[str, Any]) -> None:
    """Go on from the last checkpoint; `epochs`, if given, is the new total number of epochs.

    If the run was not started on this machine as it is now, resuming it executes a stranger's
    code. Such a request must contain the `agreed` digest of that code. The refusal gives the code
    and its digest.
    """
    epochs = asked.get("epochs")
    with refusing():
        code = foreign_code(run.dir, epochs, str(asked.get("agreed", "")))
        if code is not None:
            raise RequestError(409, str(code), {"reason": FOREIGN_CODE, "code": asdict(code)})
        run.resume(epochs)


def delete(run: Run, _: dict[str, Any]) -> None:
    """Remove the run's folder permanently."""
    with refusing():
        run.delete()


ACTIONS: dict[str, Callable[[Run, dict[str, Any]], None]] = {
    "stop": stop,
    "kill": kill,
    "resume": resume,
    "train_on": resume,
    "delete": delete,
}


def script_of(run: Run, form: str) -> dict[str, str]:
    """Return the script as `py` or as an `ipynb` notebook, or a `cell` that opens the run."""
    with refusing():
        if form == "cell":
            text = (
                f"from workbench import open_run\n\nrun = open_run({str(run.dir)!r})\nrun.figure()"
            )
            return {"name": "", "text": text}
        text = run.script
        if form == "py":
            return {"name": f"{run.id}.py", "text": text, "sha256": sha256(text)}
        return {"name": f"{run.id}.ipynb", "text": _notebook(run, text), "sha256": sha256(text)}


def _notebook(run: Run, script: str) -> str:
    from workbench.codegen import render_script
    from workbench.codegen.notebook import render_notebook

    if render_script(run.plan) != script:
        raise RequestError(
            409,
            f"{SCRIPT} of {run.id} cannot become a notebook: it was edited, or another release "
            "wrote it. Save it as a file instead.",
        )
    return render_notebook(run.plan)
