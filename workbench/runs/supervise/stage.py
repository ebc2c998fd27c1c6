"""The stage of a run that starts: what happens from the start of its processes to its first step.

It is derived from the events of the supervisor and of the tasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.runs.folder.checkpoints import resume_step
from workbench.runs.folder.clocks import task_events
from workbench.runs.folder.events import Event
from workbench.runs.folder.files import REHEARSAL_FOLDER
from workbench.runs.folder.state import last_state, since_start
from workbench.runs.folder.tasks import type_of
from workbench.runs.processes.forks import BEGUN, FORKED

if TYPE_CHECKING:
    from workbench.plan import Plan

WORDS = {
    "process": ("Starting the processes", "starts"),
    "enter": ("Starting the processes, which import TensorFlow", "starts and imports TensorFlow"),
    "import": ("Importing TensorFlow", "imports TensorFlow"),
    "meet": (
        "Connecting the tasks, then building the model",
        "connects to the other tasks, then builds the model",
    ),
    "model": ("Building the model", "builds the model"),
    "older": (
        "Restoring an older checkpoint, because the last one cannot be read",
        "restores an older checkpoint, because the last one cannot be read",
    ),
    "data": ("Loading the data", "loads the data"),
    "data and call": (
        "Loading the data, then running the first call",
        "loads the data, then runs the first call",
    ),
    "trace": (
        "Tracing the first call (compiling the graph)",
        "traces the first call (compiles the graph)",
    ),
    "call": ("Running the first call", "runs the first call"),
}
"""The stages in order: the words if all tasks are there, and the words for one task."""
AFTER = {
    "imported": "model",
    "checkpoint_damaged": "older",
    "start": "data",
    "tracing": "trace",
    "traced": "call",
}
"""The stage of a task after an event; after any other event, the task is past its start."""
BEFORE_MEETING = ("process", "enter", "import")
"""Stages of a task during which the other tasks wait, because no model is built without it."""
REHEARSAL = "Rehearsing your own model"


@dataclass(frozen=True)
class Stage:
    """The stage of a run: the stage of its task that is furthest behind."""

    name: str
    """A key of `WORDS`; empty if only the rehearsal is known."""
    task: str = ""
    """The task that is furthest behind; empty if no task is ahead of the others."""
    restores_step: int | None = None
    """The step of the checkpoint that follows the model; None: there is none, or it is unknown."""
    rehearsal: bool = False
    """Whether this is the rehearsal of the user's own model."""

    @property
    def sentence(self) -> str:
        """The stage in words: `Importing TensorFlow`, `worker-1 builds the model`."""
        if not self.name:
            return REHEARSAL
        together, alone = WORDS[self.name]
        words = f"{self.task} {alone}" if self.task else together
        if self.restores_step:
            verb = "restores" if self.task else "restoring"
            words += f", then {verb} the checkpoint of step {self.restores_step:,}"
        if self.task and self.name in BEFORE_MEETING:
            words += "; the others wait for it"
        if self.rehearsal:
            return f"{REHEARSAL}: {words if self.task else words[0].lower() + words[1:]}"
        return words


def read_stage(run_dir: Path, plan: Plan, events: Sequence[Event]) -> Stage | None:
    """Return the stage of a living run; None if it does not start, or is past its start.

    `events` are its supervisor's events.
    """
    began = last_state(events)
    if began is None or began["state"] != "starting":
        return None
    if began.get("loading"):
        return Stage("import")
    if began.get("rehearsal"):
        stage = _furthest_behind(run_dir / REHEARSAL_FOLDER, plan, events, {})
        return replace(stage or Stage(""), rehearsal=True)
    starts = [event for event in events if event["event"] == BEGUN]
    begun = starts[-1] if starts and starts[-1]["time"] >= began["time"] else None
    if begun is None and not ("job" in began or began.get("by_hand")):
        return Stage("process")
    stage = _furthest_behind(run_dir, plan, events, begun["how"] if begun else {})
    if stage is None or stage.name not in ("meet", "model"):
        return stage
    return replace(stage, restores_step=resume_step(run_dir) or None)


def _furthest_behind(
    folder: Path, plan: Plan, events: Sequence[Event], begun: Mapping[str, str]
) -> Stage | None:
    """Return the stage of the task that is furthest behind; None if all are past their start.

    `begun` has how the process of each task was started, if that is known.
    """
    tasks = [task for task in plan.tasks if type_of(task) != "evaluator"]  # none waits for it
    led = not plan.synchronous
    stages = {
        task: _stage_of(
            since_start(task_events(folder, task, events), events),
            begun.get(task, ""),
            serves=led and task != tasks[0],
        )
        for task in tasks
    }
    first = min(filter(None, stages.values()), key=list(WORDS).index, default="")
    behind = [task for task, stage in stages.items() if stage == first]
    if not first:
        return None
    together = len(behind) == len(tasks)
    untraced = led or plan.config.eager
    if first == "model" and len(tasks) > 1 and (led or together):
        first = "meet"
    elif first == "data" and untraced:
        first = "data and call"
    return Stage(first, "" if together else behind[0])


def _stage_of(events: Sequence[Event], begun: str, *, serves: bool) -> str:
    """Return the stage of a task after its events; empty if it is past its start.

    `begun` is how its process was started; empty: unknown. A task that `serves` a chief is past its
    start when it reports anything.
    """
    if events:
        return "" if serves else AFTER.get(events[-1]["event"], "")
    if not begun:
        return "enter"
    return "process" if begun == FORKED else "import"
