"""How far a run is, told from the sizes and ends of its files, without reading its records."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .directory import TASK, read_json
from .events import Event
from .records import Shape
from .segments import list_segments
from .state import LIVE, Status, attempt_events, last_silence, last_state, status
from .watchdog import PHASE_AFTER, recent_calls

RECENT_SECONDS = 10.0


@dataclass(frozen=True)
class Progress:
    """How far a run is. `None` is unknown."""

    step: int
    """Steps done."""
    total_steps: int
    epoch: int
    """The epoch under way, from 1; the last one where the run is over."""
    epochs: int
    steps_per_second: float | None
    """Over the last seconds of training; None before it can be told and when not running."""
    eta_seconds: float | None
    phase: str
    """queued, starting, tracing, training, testing, saving, stopping, or the final state."""
    note: str = ""
    """One sentence for people: what it waits for, that it is silent, how it was ended."""


def shape_of(plan: dict[str, Any]) -> Shape:
    """Return what records are read with, from plan.json."""
    replicas = plan.get("local_replicas") or plan["num_replicas_in_sync"]
    return Shape(int(replicas), int(plan["steps_per_epoch"]))


def read_progress(run_dir: Path) -> Progress:
    """Return how far the run is.

    Raises:
        RunError: its folder is gone or cannot be read.
    """
    plan = read_json(run_dir / "plan.json")
    shape = shape_of(plan)
    state = status(run_dir)
    events = attempt_events(run_dir)
    step, fresh = _steps_done(run_dir / TASK, shape, events)
    epochs, total = int(plan["epochs"]), int(plan["total_steps"])
    phase = _phase(state, events, total, fresh=fresh)
    going = phase in ("training", "testing", "saving", "stopping")
    silence = last_silence(run_dir) if state in LIVE else None
    rate = _recent_rate(run_dir / TASK, shape) if going and fresh and not silence else None
    return Progress(
        step=step,
        total_steps=total,
        epoch=min(step // shape.steps_per_epoch + 1, epochs),
        epochs=epochs,
        steps_per_second=rate,
        eta_seconds=_eta(rate, total - step, shape, events),
        phase=phase,
        note=_note(state, last_state(run_dir) or {}, silence),
    )


def steps_done(run_dir: Path, shape: Shape) -> int:
    """Return how many steps were done, recorded or not, less those a resume does again."""
    return _steps_done(run_dir / TASK, shape, attempt_events(run_dir))[0]


def _steps_done(task_dir: Path, shape: Shape, events: list[Event]) -> tuple[int, bool]:
    """Return the steps done, and whether this attempt has recorded any."""
    told = [_step_after(event) for event in events]
    start = next((event for event in reversed(events) if event["event"] == "start"), None)
    with contextlib.suppress(FileNotFoundError, IndexError):
        newest = list_segments(task_dir)[-1]
        if start is None or newest.path.stat().st_mtime >= start["time"]:
            recorded = newest.first_step + newest.rows(shape.replicas)
            return max([recorded, *told]), start is not None
    return max([0, *told]), False


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


def _recent_rate(task_dir: Path, shape: Shape) -> float | None:
    segments = list_segments(task_dir)
    calls = recent_calls(segments[-1].calls_path) if segments else []
    if calls and calls[0][0] == segments[-1].first_step:
        calls = calls[1:]
    if not calls:
        return None
    recent = [call for call in calls if call[2] > calls[-1][2] - RECENT_SECONDS]
    seconds = 0.0
    for call, later in zip(recent, [*recent[1:], None], strict=True):
        same = later and later[0] // shape.steps_per_epoch == call[0] // shape.steps_per_epoch
        seconds += max(call[3], later[2] - call[2]) if later and same else call[3]
    return sum(call[1] for call in recent) / seconds if seconds > 0 else None


def _eta(rate: float | None, left: int, shape: Shape, events: list[Event]) -> float | None:
    """Return the seconds left: the steps at the recent rate, and a test pass for each epoch."""
    if rate is None:
        return None
    passes, began = [], None
    for event in events:
        if event["event"] == "test":
            began = event["time"]
        elif event["event"] == "epoch" and began is not None:
            passes.append(event["time"] - began)
    passes_left = -(-left // shape.steps_per_epoch)
    return left / rate + passes_left * (sum(passes) / len(passes) if passes else 0.0)


def _note(state: Status, event: Event, silence: Event | None) -> str:
    if state == "queued" and event.get("behind"):
        devices = ", ".join(event.get("devices", ()))
        return f"Waits for {devices}, held by {', '.join(event['behind'])}."
    if silence:
        return (
            f"{silence.get('task')} has been silent for more than "
            f"{silence.get('silent_seconds', 0):g} s, where it answered before."
        )
    return str(event.get("note", "")) if event.get("state") == state else ""
