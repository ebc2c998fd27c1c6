"""The comparisons that this machine started: a click resumes no other one.

A resume executes what compare.json asks for: its configs name interpreters and hold functions.
"""

from __future__ import annotations

import shlex

from workbench.experiments import Comparison
from workbench.experiments.queueing.request import ASKED
from workbench.runs import RunError
from workbench.runs.folder.files import sha256
from workbench.runs.folder.trust import is_trusted, noted


def refuse_foreign(comparison: Comparison) -> None:
    """Refuse a comparison whose resume would execute code that this machine did not start.

    Raises:
        RunError: the comparison or one of its runs that are not over comes from elsewhere.
    """
    folder = comparison.folder
    begun = [comparison.run(trial) for trial in comparison.trials]
    foreign = [run.id for run in begun if run.status != "finished" and not is_trusted(run.dir)]
    asked = sha256((folder / ASKED).read_text(encoding="utf-8"))
    if asked in noted(folder) and not foreign:
        return
    what = ", ".join(foreign) or ASKED
    command = "matrix" if comparison.request.agreement else "compare"
    raise RunError(
        f"{what} of {folder.name} was not started on this machine, or has changed since, and "
        f"resuming would execute its code with all your permissions. Read the files in {folder}. "
        "If you trust them, resume the comparison in a terminal: "
        f"workbench {command} {shlex.quote(str(folder))} --resume"
    )
