"""A rehearsal: two steps of the user's own model, a test pass if there is one, and a save.

The same tasks run the same script, made for two steps, in a folder inside the run folder. An error
that would come late, such as in a test pass or in the save of the model, comes here within seconds.
A script that was rehearsed once without trouble is not rehearsed again, unless the interpreter or
one of the user's own modules is another one.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.runs.folder.events import Event, read_events
from workbench.runs.folder.files import REHEARSAL_FOLDER, SCRIPT, sha256
from workbench.runs.folder.plan import read_plan
from workbench.runs.processes.own_modules import module_hashes
from workbench.runs.processes.task_starter import LocalTaskStarter

from .diagnosis import with_own_fix
from .task_group import TaskGroup

if TYPE_CHECKING:
    from workbench.runs.processes.bounds import Bounds
    from workbench.runs.processes.environment import Launch
    from workbench.runs.processes.forks import Forks

MADE_FOR = "made_for"
"""A file in the rehearsal's folder: the sha256 of the run's script."""
_WENT_WELL = ".rehearsed"
"""A folder next to the runs: a file for each rehearsal, named as `proof_of` names it."""
MOST_CHARACTERS = 200
"""The number of characters of an error that are reported."""
NOTE = "Rehearsal: your own model first does two steps, a test if there is one, and a save."


def proof_of(
    script: str, interpreter: str, modules: Mapping[str, Any], *, gradient_norms: bool
) -> str:
    """Return the sha256 of everything that a rehearsal tries out.

    `modules` are `module_hashes` of the run's plan; `gradient_norms`: whether they are recorded.
    """
    norms = ["gradient norms"] if gradient_norms else []
    return sha256("\n".join([script, interpreter, json.dumps(modules, sort_keys=True), *norms]))


def went_well(root: Path, proof: str) -> bool:
    """Return whether a rehearsal with this proof was done without trouble in a folder of runs."""
    return (root / _WENT_WELL / proof).exists()


def trouble_in(events: Sequence[Event]) -> str:
    """Return the trouble in the last rehearsal that is no failure, from the supervisor's events."""
    rehearsals = [event for event in events if event["event"] == "rehearsed"]
    return str(rehearsals[-1].get("trouble", "")) if rehearsals else ""


class Rehearsal:
    """The rehearsal that a run folder holds, if it must still be done."""

    def __init__(
        self,
        run_dir: Path,
        launch: Launch,
        bounds: Bounds,
        held_fds: Sequence[int],
        forks: Forks,
    ) -> None:
        self._run_dir, self._launch, self._forks = run_dir, launch, forks
        self._bounds, self._held_fds = bounds, held_fds
        self._folder = run_dir / REHEARSAL_FOLDER

    @property
    def is_due(self) -> bool:
        """Whether there is a rehearsal, made for the script that the run still has."""
        try:
            made_for = (self._folder / MADE_FOR).read_text(encoding="utf-8")
            return made_for == sha256((self._run_dir / SCRIPT).read_text(encoding="utf-8"))
        except OSError:
            return False

    def run(self, wait: Callable[[], None], stop_asked: Callable[[], bool]) -> dict[str, Any]:
        """Do the rehearsal, and return its final state with the details to record.

        `wait` sleeps until the next check. A model that could be trained but not saved is no
        failure: it is reported as `trouble`.

        Raises:
            OSError: a task cannot be started.
        """
        plan = read_plan(self._folder)
        starter = LocalTaskStarter(self._folder, self._launch, self._held_fds, self._forks)
        launch = self._launch
        group = TaskGroup(self._folder, plan, starter, launch.interpreter, self._bounds)
        script = (self._run_dir / SCRIPT).read_text(encoding="utf-8")
        modules = module_hashes(plan, launch.working_dir)
        proof = proof_of(script, launch.interpreter, modules, gradient_norms=launch.gradient_norms)
        try:
            group.choose_addresses()
            group.start(time.monotonic())
            while not group.is_over(time.monotonic()):
                wait()
                now = time.monotonic()
                group.poll(now)
                if stop_asked() and not group.stopping:
                    group.ask_to_stop(now)
                group.escalate(now)
        finally:
            group.end(time.monotonic())
        return self._result(group.conclusion(), group.leader.name, proof)

    def _result(self, conclusion: dict[str, Any], leader: str, proof: str) -> dict[str, Any]:
        if conclusion["state"] == "failed":
            cause = f"In a rehearsal of two steps, before the run itself: {conclusion['cause']}"
            return with_own_fix(read_plan(self._run_dir), {**conclusion, "cause": cause})
        if conclusion["state"] != "finished":
            return conclusion
        events = read_events(self._folder / leader / "events.jsonl")
        lost = [event["error"] for event in events if event["event"] == "model_not_saved"]
        with contextlib.suppress(OSError):  # without a mark, it is only rehearsed once more
            marks = self._run_dir.parent / _WENT_WELL
            marks.mkdir(exist_ok=True)
            if not lost:
                (marks / proof).touch()
        shutil.rmtree(self._folder, ignore_errors=True)
        return {"state": "finished", "trouble": _unsaved(lost[0]) if lost else ""}


def _unsaved(error: str) -> str:
    text = " ".join(error.split())
    shortened = text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]} ..."
    return (
        f"This model cannot be saved at the end, only its checkpoints: {shortened} "
        "To save it, give your own layers a get_config method. Training continues."
    )
