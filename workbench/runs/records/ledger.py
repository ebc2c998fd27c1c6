"""How a run spent its time, computed from its events and from the times of its calls."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from workbench.runs.folder.clocks import BEGINS, TaskClock, task_events
from workbench.runs.folder.events import Event
from workbench.runs.folder.plan import read_plan
from workbench.runs.folder.state import is_alive, supervisor_events
from workbench.runs.processes.forks import BEGUN

from .reader import step_files
from .step_files import Doubles, attempts_of, counted_calls, on_supervisor_clock

# The stage of a trainer after an event. Any other event leaves the stage as it is.
STAGE_AFTER = {
    "start": "data",
    "tracing": "trace",
    "test": "evaluation",
    "epoch": "training",
    "saving": "checkpoints",
    "checkpoint": "training",
    "checkpoint_failed": "training",
    "finished": "training",
    "stopped": "training",
}
QUEUE = "queue"
STAGE_IN_STATE = {"queued": QUEUE, "starting": "start"}
OVER = ("finished", "stopped", "failed")


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


class _Span(NamedTuple):
    """A stage of an attempt with its begin and end, in seconds since 1970."""

    stage: str
    begin: float
    end: float
    """Earlier than `begin` if the clock was set back."""


class _Attempt:
    """One attempt at a run, from its place in the queue to its end."""

    def __init__(self) -> None:
        self.supervisor_events: list[Event] = []
        """The events of the supervisor."""
        self.events: list[Event] = []
        """The events of the trainer."""
        self.calls: list[Doubles] = []
        """Its calls, also if a later attempt did them again; they can be of several processes."""
        self.now: float | None = None
        """The time up to which the attempt is counted, if it goes on; else None."""

    @property
    def over(self) -> bool:
        """Whether its end is recorded."""
        return any(event.get("state") in OVER for event in self.supervisor_events)

    def spans(self) -> list[_Span]:
        """Return its stages, in order and without gaps."""
        marks = self._marks()
        if not marks:
            return []
        ends = [*(begin for begin, _ in marks[1:]), self._end(marks[-1][1])]
        return [_Span(stage, begin, end) for (begin, stage), end in zip(marks, ends, strict=True)]

    def stalls(self) -> list[_Span]:
        """Return its silences, each from the time at which it was reported."""
        found: list[_Span] = []
        since: float | None = None
        for event in self.supervisor_events:
            if event["event"] == "stalled":
                since = float(event["time"])
            elif event["event"] == "recovered" and since is not None:
                found.append(_Span("stalled", since, float(event["time"])))
                since = None
        return found if since is None else [*found, _Span("stalled", since, self._end("stalled"))]

    def first_call_seconds(self) -> float | None:
        """Return the seconds of its first call, or the seconds so far if it is not over.

        None before the first call, and if the seconds are unknown.
        """
        if self.calls:
            return float(self.calls[0][0, 3])
        traced = self.events[-1] if self.events else None
        recorded = any(event.get("state") == "running" for event in self.supervisor_events)
        if self.now is None or traced is None or traced["event"] != "traced" or recorded:
            return None
        return self.now - float(traced["time"])

    def _marks(self) -> list[tuple[float, str]]:
        """Return the begin of each stage, with the stage."""
        marks = [
            (float(event["time"]), _stage_in(event))
            for event in self.supervisor_events
            if event.get("state") in STAGE_IN_STATE
        ]
        for event in self.events:
            moment = float(event["time"])
            if event["event"] == "traced":
                marks = [mark for mark in marks if mark[1] != "trace"]
                marks += [(moment - float(event["seconds"]), "trace"), (moment, "training")]
            elif stage := STAGE_AFTER.get(event["event"]):
                marks.append((moment, stage))
        stages = [stage for _, stage in marks]
        if self.calls and "data" in stages and "trace" not in stages:
            first_call = float(self.calls[0][0, 2])
            marks.insert(stages.index("data") + 1, (first_call, "training"))
        return marks

    def _end(self, stage: str) -> float:
        """Return the time up to which the last stage, `stage`, is known."""
        written = [
            float(event["time"]) for event in self.supervisor_events if event.get("state") in OVER
        ]
        if written:
            return written[0]
        silent = [
            event for event in self.supervisor_events if event["event"] in ("stalled", "recovered")
        ]
        stalled = silent and silent[-1]["event"] == "stalled"
        if self.now is not None and (stage != "training" or stalled):
            return self.now
        signs = [float(event["time"]) for event in (*self.supervisor_events, *self.events)]
        return max(signs + [float(calls[-1, 2] + calls[-1, 3]) for calls in self.calls])


def read_ledger(run_dir: Path, now: float | None = None) -> Ledger:
    """Return how a run spent its time until `now`, in seconds since 1970; None: this moment.

    If there are several workers, it is the time of the first worker.

    Raises:
        RunError: its folder is missing or cannot be read.
    """
    alive = is_alive(run_dir)  # before its files: a dead run has written everything
    plan, events = read_plan(run_dir), supervisor_events(run_dir)
    worker = plan.worker_tasks[0]
    files = step_files(run_dir / worker, plan.local_replicas, plan.total_steps)
    # The leading task times the calls: it is that worker itself, or its chief.
    log = on_supervisor_clock(files.log(), TaskClock(plan.leader, events))
    attempts = _read_attempts(run_dir, plan.leader, events, attempts_of(log))
    if not attempts:
        return Ledger((), ())
    if alive and not attempts[-1].over:
        attempts[-1].now = time.time() if now is None else now
    steps, _, _ = counted_calls(log)
    spans = [attempt.spans() for attempt in attempts]
    stalls = [stall for attempt in attempts for stall in attempt.stalls()]
    begun = _begun(attempts[-1], worker)
    first_step = _first_step(spans[-1], attempts[-1].first_call_seconds(), begun)
    every = list(chain.from_iterable(spans))
    taken = [span.end - span.begin for span in every if span.stage != QUEUE]
    return Ledger(
        first_step,
        _whole(every, stalls, steps),
        seconds=sum(taken) if taken and sum(taken) >= 0 else None,
        queue_seconds=_seconds(every, QUEUE),
    )


def _begun(attempt: _Attempt, task: str) -> str:
    """Return how the process of a task was started; empty if that was not recorded."""
    starts = [event["how"] for event in attempt.supervisor_events if event["event"] == BEGUN]
    return str(starts[-1].get(task, "")) if starts else ""


def _first_step(spans: Sequence[_Span], first_call: float | None, begun: str) -> tuple[Entry, ...]:
    stages = (QUEUE, "rehearsal", "start", "data", "trace")
    seconds = {stage: _seconds(spans, stage) for stage in stages}
    entries = _entries({**seconds, "first step": first_call})
    return tuple(
        replace(entry, note=begun) if entry.name == "start" else entry for entry in entries
    )


def _whole(spans: Sequence[_Span], stalls: Sequence[_Span], calls: Doubles) -> tuple[Entry, ...]:
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


def _seconds(spans: Sequence[_Span], *stages: str) -> float | None:
    """Return the total seconds of these stages; None if that is unknown."""
    lengths = [span.end - span.begin for span in spans if span.stage in stages]
    return sum(lengths) if lengths and min(lengths) >= 0 else None


def _shared(spans: Sequence[_Span], begins: Doubles, ends: Doubles) -> float:
    """Return the seconds that the spans share with the stretches from `begins` to `ends`."""
    common = [np.minimum(span.end, ends) - np.maximum(span.begin, begins) for span in spans]
    return float(sum(np.clip(seconds, 0.0, None).sum() for seconds in common))


def _entries(seconds: Mapping[str, float | None]) -> tuple[Entry, ...]:
    known = {name: value for name, value in seconds.items() if value is not None}
    return tuple(Entry(name, value) for name, value in known.items() if value > 0)


def _stage_in(event: Event) -> str:
    return "rehearsal" if event.get("rehearsal") else STAGE_IN_STATE[event["state"]]


def _read_attempts(
    run_dir: Path, leader: str, events: Sequence[Event], calls: Sequence[Doubles]
) -> list[_Attempt]:
    """Return a run's attempts in order.

    `events` are the supervisor's events. `calls` holds the calls of each attempt of the run's first
    worker, with their starts on the supervisor's clock.

    Raises:
        RunError: the events cannot be read.
    """
    attempts: list[_Attempt] = []
    begun: list[tuple[float, _Attempt]] = []
    for event in events:
        waits = event.get("state") == "queued" and "behind" not in event
        if not attempts or waits or event.get("by_hand"):
            attempts.append(_Attempt())
        attempts[-1].supervisor_events.append(event)
        if event.get("state") == "starting":
            # The tasks of a job can begin before their supervisor sees it.
            begun.append((float(attempts[-1].supervisor_events[0]["time"]), attempts[-1]))
    opened: list[tuple[float, _Attempt]] = []
    for event in task_events(run_dir, leader, events) if begun else []:
        if event["event"] in (BEGINS, "start"):
            opened.append((float(event["time"]), _at(begun, float(event["time"]))))
        if opened:
            opened[-1][1].events.append(event)
    for rows in calls if opened else []:
        if len(rows):
            _at(opened, float(rows[0, 2])).calls.append(rows)
    return attempts


def _at(begun: list[tuple[float, _Attempt]], moment: float) -> _Attempt:
    """Return the attempt that was active at a moment."""
    earlier = [attempt for begin, attempt in begun if begin <= moment]
    return earlier[-1] if earlier else begun[0][1]
