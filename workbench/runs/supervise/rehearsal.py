"""A rehearsal: two steps of a model of one's own, tested, saved, before the run itself begins.

The same tasks run the same script, made for two steps, in a folder inside the run's. What would
fail later, such as a test pass or the saving of the model, fails here in seconds. A script that
went well once is not rehearsed again.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.runs.folder.events import Event, read_events
from workbench.runs.folder.files import SCRIPT, read_json, sha256
from workbench.runs.processes.hands import LocalHands

from .diagnosis import OTHER_FIX
from .task_group import TaskGroup

if TYPE_CHECKING:
    from workbench.runs.processes.bounds import Bounds
    from workbench.runs.processes.environment import Launch
    from workbench.runs.processes.forks import Forks

FOLDER = "rehearsal"
MADE_FOR = "made_for"
"""A file in it: the sha256 of the run's script."""
_WENT_WELL = ".rehearsed"
"""A folder beside the runs: a file for each script, named by its sha256."""
MOST_WORDS = 200
"""Letters of an error that are told."""
OWN_FIX = "Read the end of the log, mend what it names in your own code, then train again."
NOTE = "A rehearsal: two steps, a test and the saving of your own model are done first."


def went_well(root: Path, script: str) -> bool:
    """Whether a script was rehearsed before in this folder of runs."""
    return (root / _WENT_WELL / sha256(script)).exists()


def trouble_in(events: Sequence[Event]) -> str:
    """Return what a run's last rehearsal found that is no failure, of its supervisor's events."""
    told = [event for event in events if event["event"] == "rehearsed"]
    return str(told[-1].get("trouble", "")) if told else ""


class Rehearsal:
    """The rehearsal that a run folder holds, if it is still to be done."""

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
        self._folder = run_dir / FOLDER

    @property
    def is_due(self) -> bool:
        """Whether there is one, made for the script that the run still has."""
        try:
            made_for = (self._folder / MADE_FOR).read_text(encoding="utf-8")
            return made_for == sha256((self._run_dir / SCRIPT).read_text(encoding="utf-8"))
        except OSError:
            return False

    def run(self, wait: Callable[[], None], stop_asked: Callable[[], bool]) -> dict[str, Any]:
        """Do it, and return the state it ended in with what is to be told of it.

        `wait` sleeps until it is worth looking again. A model that could be trained but not saved
        is no failure: it is told as `trouble`.

        Raises:
            OSError: a task cannot be started.
        """
        plan = read_json(self._folder / "plan.json")
        hands = LocalHands(self._folder, self._launch, self._held_fds, self._forks)
        group = TaskGroup(self._folder, plan, hands, self._launch.interpreter, self._bounds)
        try:
            group.choose_addresses()
            group.start(time.monotonic())
            while not group.is_over(time.monotonic()):
                wait()
                now = time.monotonic()
                group.look(now)
                if stop_asked() and not group.stopping:
                    group.ask_to_stop(now)
                group.escalate(now)
        finally:
            group.end(time.monotonic())
        return self._told(group.conclusion(), group.leader.name)

    def _told(self, conclusion: dict[str, Any], leader: str) -> dict[str, Any]:
        if conclusion["state"] == "failed":
            told = f"In a rehearsal of two steps, before the run itself: {conclusion['cause']}"
            fix = OWN_FIX if conclusion["fix"] == OTHER_FIX else conclusion["fix"]
            return {**conclusion, "cause": told, "fix": fix}
        if conclusion["state"] != "finished":
            return conclusion
        events = read_events(self._folder / leader / "events.jsonl")
        lost = [event["error"] for event in events if event["event"] == "model_not_saved"]
        made_for = (self._folder / MADE_FOR).read_text(encoding="utf-8")
        with contextlib.suppress(OSError):  # unmarked, it is only rehearsed once more
            marks = self._run_dir.parent / _WENT_WELL
            marks.mkdir(exist_ok=True)
            if not lost:
                (marks / made_for).touch()
        shutil.rmtree(self._folder, ignore_errors=True)
        return {"state": "finished", "trouble": _unsaved(lost[0]) if lost else ""}


def _unsaved(error: str) -> str:
    words = " ".join(error.split())
    said = words if len(words) <= MOST_WORDS else f"{words[:MOST_WORDS]} ..."
    return (
        f"At the end this model cannot be saved whole, only its checkpoints: {said} Give layers of "
        "your own get_config to have it saved; training goes on."
    )
