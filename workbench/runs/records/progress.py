"""A run's progress, read from the sizes and ends of its files, without reading its records."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.runs.copying.copies import read_copies
from workbench.runs.folder.clocks import own_time, task_events
from workbench.runs.folder.events import Event, read_events
from workbench.runs.folder.files import CARD, REHEARSAL_FOLDER
from workbench.runs.folder.plan import read_plan
from workbench.runs.folder.state import (
    LIVE,
    Status,
    clocks_ahead_seconds,
    last_silence,
    last_state,
    restarts_of,
    since_start,
    status,
    supervisor_events,
    tf_configs,
)
from workbench.runs.folder.tasks import type_of
from workbench.runs.folder.unwritten import disk_note, losses_of
from workbench.runs.processes.own_modules import changes_in
from workbench.runs.supervise.queue import is_in, named
from workbench.runs.supervise.rehearsal import trouble_in
from workbench.runs.supervise.stage import Stage, read_stage
from workbench.runs.supervise.watchdog import PHASE_AFTER

from .arrays import Shape, epoch_ends_of
from .reader import step_files
from .speed import Speed, joined_speed, recent_speed, seconds_left
from .step_files import known

if TYPE_CHECKING:
    from workbench.plan import Plan

ROWS_READ = 4
"""Rows at the end of a log that are read for the newest one, because some can be damaged."""
WORKING = ("tracing", "training", "testing", "saving", "stopping")
AFTER_STEPS = ("testing", "saving")
"""Phases in which no step of the next epoch has begun."""
PHASE_OF = {"ps": "serving", "evaluator": "testing"}
"""The phase of a task during the training of the other tasks."""


@dataclass(frozen=True)
class Lane:
    """The progress of one task. `None` is unknown."""

    task: str
    phase: str
    step: int | None
    """The steps that the task itself has done; None for a task that does not step."""
    steps_per_second: float | None
    note: str = ""
    tf_config: str = ""
    """Its TF_CONFIG, as JSON; empty if the task is alone or not started."""


@dataclass(frozen=True)
class Progress:
    """The progress of a run. `None` is unknown."""

    step: int
    """Steps done."""
    total_steps: int
    epoch: int
    """The current epoch, from 1; the last epoch if the run is over."""
    epochs: int
    steps_per_second: float | None
    """Over the last ten seconds of training, like `examples_per_second`; see `speed`. None before
    it is known, and if the run does not train."""
    examples_per_second: float | None
    eta_seconds: float | None
    """The seconds left at this speed."""
    phase: str
    """queued, starting, tracing, training, testing, saving, stopping, or the final state."""
    stage: Stage | None = None
    """What a run that starts does before its first step; None if that is unknown or over."""
    note: str = ""
    """For people: why it waits, its silence, how it was ended, and data that it could not write."""
    waits_for: tuple[str, ...] = ()
    """The ids of the runs of its folder of runs that hold the devices for which it waits."""
    changed: str = ""
    """The user's modules that changed between its attempts, in words."""
    lanes: tuple[Lane, ...] = ()
    """The progress of its tasks, the leading task first."""

    @property
    def doing(self) -> str:
        """For people: what the run does now, as exactly as it is known: its stage or its phase."""
        return self.stage.sentence if self.stage else self.phase


def read_progress(run_dir: Path) -> Progress:
    """Return the progress of the run.

    Raises:
        RunError: its folder is missing or cannot be read.
    """
    plan, events, root = read_plan(run_dir), supervisor_events(run_dir), run_dir.parent
    shape, leader = Shape.of(plan), plan.leader
    state = status(run_dir, events)
    leader_events = since_start(task_events(run_dir, leader, events), events)
    step, fresh = _steps_done(run_dir, plan, shape, leader_events)
    epochs, total = plan.epochs, plan.total_steps
    phase = _phase(state, leader_events, total, fresh=fresh)
    going = phase in ("training", "testing", "saving", "stopping")
    living = state in LIVE
    told = [] if state == "queued" else events  # a run that waits has no tasks to tell of
    silence = last_silence(told) if living else None
    moving = going and fresh and not silence
    ends = epoch_ends_of(event for event in leader_events if event["event"] == "epoch")
    speeds = {
        task: recent_speed(run_dir / task, shape, ends.get(task, ())) if moving else None
        for task in plan.worker_tasks
    }
    copies = read_copies(run_dir)
    rehearsed = read_events(run_dir / REHEARSAL_FOLDER / leader / "events.jsonl")
    lost = losses_of(rehearsed or leader_events, living=living) if state != "queued" else ""
    troubles = (
        _clock_note(told),
        copies.error if copies else "",
        lost or trouble_in(told),
        disk_note(run_dir) if living else "",
    )
    speed = joined_speed(list(speeds.values()), synchronous=shape.synchronous)
    restarts = _restart_notes(told) if living else {}
    lanes = _lanes(run_dir, plan, phase, step, speeds, silence, fresh=fresh)
    last = last_state(events) or {}
    ahead = _ahead(run_dir, last) if state == "queued" else []
    test_steps = 0 if plan.evaluator else plan.test_steps
    left = max(0, total - step)  # workers that do not wait can do a call again, and so more steps
    notes = (_note(state, last, silence, named(ahead, root)), *restarts.values(), *troubles)
    configs = {task: json.dumps(config) for task, config in tf_configs(told).items()}
    return Progress(
        step=step,
        total_steps=total,
        epoch=_epoch_of(step, shape.steps_per_epoch, epochs, ended=phase in AFTER_STEPS),
        epochs=epochs,
        steps_per_second=speed.steps_per_second if speed else None,
        examples_per_second=speed.examples_per_second if speed else None,
        eta_seconds=seconds_left(speed, left, shape, test_steps, leader_events),
        phase=phase,
        stage=read_stage(run_dir, plan, events) if state == "starting" and not fresh else None,
        note=" ".join(filter(None, notes)),
        waits_for=tuple(run.name for run in ahead if is_in(run, root) and (run / CARD).exists()),
        changed=changes_in(events),
        lanes=tuple(
            replace(
                lane,
                tf_config=configs.get(lane.task, ""),
                note=lane.note or restarts.get(lane.task, ""),
            )
            for lane in lanes
        ),
    )


def _ahead(run_dir: Path, queued: Event) -> list[Path]:
    """Return the folders of the runs ahead; earlier releases noted only their ids."""
    return [run_dir.parent / str(run) for run in queued.get("behind", ())]


def _epoch_of(step: int, steps_per_epoch: int, epochs: int, *, ended: bool) -> int:
    """Return the current epoch, from 1; `ended` says that no step of the next epoch has begun."""
    begun = -(-step // steps_per_epoch) if ended else step // steps_per_epoch + 1
    return min(max(begun, 1), epochs)


def _lanes(
    run_dir: Path,
    plan: Plan,
    phase: str,
    step: int,
    speeds: dict[str, Speed | None],
    silence: Event | None,
    *,
    fresh: bool,
) -> Iterator[Lane]:
    """Yield the lane of each task, without its `tf_config`.

    If this attempt is not `fresh`, it has not yet recorded a step: a synchronous worker is at the
    step of its checkpoint, although records of an earlier attempt go on after it.
    """
    shape, tasks = Shape.of(plan), plan.tasks
    for task in tasks:
        note = f"{task} is silent." if silence and silence.get("task") == task else ""
        if task in speeds:
            own = step if len(tasks) == 1 else recorded_steps(run_dir / task, shape)
            own = own if fresh or not shape.synchronous else min(own, step)
            speed = speeds[task]
            yield Lane(task, phase, own, speed.steps_per_second if speed else None, note)
        else:
            own_phase = PHASE_OF.get(type_of(task), phase) if phase in WORKING else phase
            yield Lane(task, own_phase, None, None, note)


def steps_done(run_dir: Path, plan: Plan, attempt: Sequence[Event]) -> int:
    """Return how many steps were done, recorded or not, without steps that a resume does again.

    `attempt` holds the leading task's events since its last start.
    """
    return _steps_done(run_dir, plan, Shape.of(plan), attempt)[0]


def _steps_done(
    run_dir: Path, plan: Plan, shape: Shape, events: Sequence[Event]
) -> tuple[int, bool]:
    """Return the steps done, and whether this attempt has recorded any."""
    reported = max([0, *(_step_after(event) for event in events)])
    start = next((event for event in reversed(events) if event["event"] == "start"), None)
    workers = [run_dir / task for task in plan.worker_tasks]
    led = workers[:1] if shape.synchronous else workers  # the leader, or those that it writes for
    # Each worker of a coordinator has its own steps.
    first_step = int(start.get("step") or 0) if start and shape.synchronous else 0
    newest = max(_last_call(worker, shape, first_step) for worker in led)
    if not newest or (start is not None and newest < own_time(start)):
        return reported, False
    steps = [recorded_steps(worker, shape) for worker in workers]
    return max(reported, max(steps) if shape.synchronous else sum(steps)), start is not None


def recorded_steps(task_dir: Path, shape: Shape) -> int:
    """Return one past the last step that a worker recorded; 0 if it has recorded none."""
    first, steps, _ = _newest_row(task_dir, shape)
    return int(first + steps)


def _last_call(task_dir: Path, shape: Shape, first_step: int) -> float:
    """Return when a worker's last call started; 0 if its newest attempt has made none.

    It is a time on the clock of the task that writes the records: the worker, or the chief that
    leads it. The attempt began at `first_step`.
    """
    first, steps, start = _newest_row(task_dir, shape)
    return start if steps and first >= first_step else 0.0


def _newest_row(task_dir: Path, shape: Shape) -> tuple[float, float, float]:
    """Return first step, steps and start of the newest row of a worker's log; zeros without one."""
    files = step_files(task_dir, shape.replicas, shape.total_steps)
    rows = known(files.log(max(0, files.calls_written() - ROWS_READ)))
    first, steps, start, _ = rows[-1].tolist() if len(rows) else (0.0,) * 4
    return first, steps, start


def _step_after(event: Event) -> int:
    if event["event"] == "unrecorded":
        return int(event.get("first_step", 0)) + int(event.get("steps", 0))
    return 0 if event["event"] == "nonfinite" else int(event.get("step") or 0)


def _phase(state: Status, events: list[Event], total: int, *, fresh: bool) -> str:
    if state not in ("starting", "running"):
        return state
    phase = "starting"
    for event in events:
        phase = PHASE_AFTER.get(event["event"], phase)
        if phase == "training" and int(event.get("step", 0)) >= total:
            phase = "saving"
    return "training" if phase == "tracing" and fresh else phase


def _restart_notes(events: list[Event]) -> dict[str, str]:
    """Return a sentence for each task that ended and was started again in this attempt."""
    return {
        task: f"{task} ended and was started again ({len(found)}). {found[-1].get('cause', '')}"
        for task, found in restarts_of(events).items()
    }


def _clock_note(events: list[Event]) -> str:
    """Return a sentence on the hosts of this attempt whose clock differs; empty if all agree."""
    hosts = [
        f"that of {task} is {abs(ahead):,.1f} s {'ahead' if ahead > 0 else 'behind'}"
        for task, ahead in clocks_ahead_seconds(events).items()
    ]
    if not hosts:
        return ""
    return (
        f"The clocks of hosts differ from the supervisor's: {', '.join(hosts)}. Times in their "
        "logs are wrong by this much; the workbench corrects the times that it shows. Synchronize "
        "the clocks, for example with NTP."
    )


def _note(state: Status, event: Event, silence: Event | None, ahead: str) -> str:
    if ahead:
        return f"Waits for {', '.join(event.get('devices', ()))} behind {ahead}."
    if silence:
        return (
            f"{silence.get('task')} has been silent for more than "
            f"{silence.get('silent_seconds', 0):g} s."
        )
    return str(event.get("note", "")) if event.get("state") == state else ""
