"""How a run spent its time, computed from its events and from the times of its calls."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np

from workbench.runs.folder.clocks import TaskClock
from workbench.runs.folder.state import is_alive, supervisor_events
from workbench.runs.folder.tasks import read_numbers, tasks_of, workers_of
from workbench.runs.processes.forks import BEGUN

from .attempts import QUEUE, Attempt, Span, read_attempts
from .progress import shape_of
from .segments import Doubles, calls_of, kept_rows, list_segments


@dataclass(frozen=True)
class Entry:
    """A kind of work, and the seconds that it took."""

    name: str
    seconds: float
    note: str = ""
    """For people: how the process was started."""

    @property
    def label(self) -> str:
        """The name, with the note."""
        return f"{self.name} ({self.note})" if self.note else self.name


@dataclass(frozen=True)
class Ledger:
    """How a run spent its time. An entry that did not happen or cannot be known is absent.

    Events carry the time of day. If the clock was set back during a span, its length is unknown.
    """

    first_step: tuple[Entry, ...]
    """The entries of the newest attempt, in order: `queue`, `rehearsal`, `start` (interpreter,
    imports, strategy, model), `data`, `trace` (absent if nothing is traced), `first step` (its
    first call). The entry that is not over has its seconds so far."""
    whole: tuple[Entry, ...]
    """The entries of all attempts: `rehearsal`, `start-up` (start and data), `trace`, `steps`,
    `checkpoints`, `evaluation`, `stalls` (reported silences, subtracted from `steps`) and `other`,
    which also holds the steps that a resume did again. A step counts once its call is over."""
    seconds: float | None = None
    """How long the run took: from start to end in all attempts, without waits in the queue. None
    before the first start, and if the clock was set back."""
    queue_seconds: float | None = None
    """How long it waited in the queue, in all attempts."""


def read_ledger(run_dir: Path, now: float | None = None) -> Ledger:
    """Return how a run spent its time until `now`, in seconds since 1970; None: this moment.

    If there are several workers, it is the time of the first worker.

    Raises:
        RunError: its folder is missing or cannot be read.
    """
    alive = is_alive(run_dir)  # before its files: a dead run has written everything
    plan, events = read_numbers(run_dir), supervisor_events(run_dir)
    shape = shape_of(plan)
    segments = list_segments(run_dir / workers_of(plan)[0], shape.total_steps)
    # The leading task times the calls: it is that worker itself, or its chief.
    timed = calls_of(segments, TaskClock(tasks_of(plan)[0], events))
    calls = {segment.number: rows for segment, rows in zip(segments, timed, strict=True)}
    attempts = read_attempts(run_dir, events, timed)
    if not attempts:
        return Ledger((), ())
    if alive and not attempts[-1].over:
        attempts[-1].now = time.time() if now is None else now
    counted = [
        calls[segment.number][calls[segment.number][:, 0] < segment.first_step + rows]
        for segment, rows in kept_rows(segments, shape.replicas)
    ]
    steps = np.vstack([np.empty((0, 4)), *counted])
    spans = [attempt.spans() for attempt in attempts]
    stalls = [stall for attempt in attempts for stall in attempt.stalls()]
    begun = _begun(attempts[-1], workers_of(plan)[0])
    first_step = _first_step(spans[-1], attempts[-1].first_call_seconds(), begun)
    every = list(chain.from_iterable(spans))
    taken = [span.end - span.begin for span in every if span.stage != QUEUE]
    return Ledger(
        first_step,
        _whole(every, stalls, steps),
        seconds=sum(taken) if taken and sum(taken) >= 0 else None,
        queue_seconds=_seconds(every, QUEUE),
    )


def _begun(attempt: Attempt, task: str) -> str:
    """Return how the process of a task was started; empty if that was not recorded."""
    starts = [event["how"] for event in attempt.supervisor_events if event["event"] == BEGUN]
    return str(starts[-1].get(task, "")) if starts else ""


def _first_step(spans: Sequence[Span], first_call: float | None, begun: str) -> tuple[Entry, ...]:
    stages = (QUEUE, "rehearsal", "start", "data", "trace")
    seconds = {stage: _seconds(spans, stage) for stage in stages}
    entries = _entries({**seconds, "first step": first_call})
    return tuple(
        replace(entry, note=begun) if entry.name == "start" else entry for entry in entries
    )


def _whole(spans: Sequence[Span], stalls: Sequence[Span], calls: Doubles) -> tuple[Entry, ...]:
    training = [(span.begin, span.end) for span in spans if span.stage == "training"]
    starts, seconds = calls[:, 2], calls[:, 3]
    in_calls = _shared(stalls, starts, starts + seconds)
    stalled = _shared(stalls, *np.reshape(training, (-1, 2)).T)
    steps = float(seconds.sum())
    rest = _seconds(spans, "training")
    if rest is not None and (np.diff(starts) >= 0).all():
        rest -= steps + stalled - in_calls
    else:
        rest = None
    return _entries(
        {
            "rehearsal": _seconds(spans, "rehearsal"),
            "start-up": _seconds(spans, "start", "data"),
            "trace": _seconds(spans, "trace"),
            "steps": steps - in_calls,
            "checkpoints": _seconds(spans, "checkpoints"),
            "evaluation": _seconds(spans, "evaluation"),
            "stalls": stalled,
            "other": rest,
        }
    )


def _seconds(spans: Sequence[Span], *stages: str) -> float | None:
    """Return the total seconds of these stages; None if that is unknown."""
    lengths = [span.end - span.begin for span in spans if span.stage in stages]
    return sum(lengths) if lengths and min(lengths) >= 0 else None


def _shared(spans: Sequence[Span], begins: Doubles, ends: Doubles) -> float:
    """Return the seconds that the spans share with the stretches from `begins` to `ends`."""
    common = [np.minimum(span.end, ends) - np.maximum(span.begin, begins) for span in spans]
    return float(sum(np.clip(seconds, 0.0, None).sum() for seconds in common))


def _entries(seconds: Mapping[str, float | None]) -> tuple[Entry, ...]:
    known = {name: value for name, value in seconds.items() if value is not None}
    return tuple(Entry(name, value) for name, value in known.items() if value > 0)
