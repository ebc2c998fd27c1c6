"""The attempts at a run, and the stages of each attempt with their times."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from workbench.runs.folder.clocks import task_events
from workbench.runs.folder.events import Event
from workbench.runs.folder.tasks import leader_of

from .segments import Doubles

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


class Span(NamedTuple):
    """A stage of an attempt with its begin and end, in seconds since 1970."""

    stage: str
    begin: float
    end: float
    """Earlier than `begin` if the clock was set back."""


class Attempt:
    """One attempt at a run, from its place in the queue to its end."""

    def __init__(self) -> None:
        self.supervisor_events: list[Event] = []
        """The events of the supervisor."""
        self.events: list[Event] = []
        """The events of the trainer."""
        self.calls: list[Doubles] = []
        """The calls of each segment that it opened, also if a later attempt did them again."""
        self.now: float | None = None
        """The time up to which the attempt is counted, if it goes on; else None."""

    @property
    def over(self) -> bool:
        """Whether its end is recorded."""
        return any(event.get("state") in OVER for event in self.supervisor_events)

    def spans(self) -> list[Span]:
        """Return its stages, in order and without gaps."""
        marks = self._marks()
        if not marks:
            return []
        ends = [*(begin for begin, _ in marks[1:]), self._end(marks[-1][1])]
        return [Span(stage, begin, end) for (begin, stage), end in zip(marks, ends, strict=True)]

    def stalls(self) -> list[Span]:
        """Return its silences, each from the time at which it was reported."""
        found: list[Span] = []
        since: float | None = None
        for event in self.supervisor_events:
            if event["event"] == "stalled":
                since = float(event["time"])
            elif event["event"] == "recovered" and since is not None:
                found.append(Span("stalled", since, float(event["time"])))
                since = None
        return found if since is None else [*found, Span("stalled", since, self._end("stalled"))]

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


def _stage_in(event: Event) -> str:
    return "rehearsal" if event.get("rehearsal") else STAGE_IN_STATE[event["state"]]


def read_attempts(
    run_dir: Path, events: Sequence[Event], calls: Sequence[Doubles]
) -> list[Attempt]:
    """Return a run's attempts in order.

    `events` are the supervisor's events. `calls` holds the calls of each segment of the run's first
    worker, with their starts on the supervisor's clock.

    Raises:
        RunError: the events cannot be read.
    """
    attempts: list[Attempt] = []
    begun: list[tuple[float, Attempt]] = []
    for event in events:
        if not attempts or (event.get("state") == "queued" and "behind" not in event):
            attempts.append(Attempt())
        attempts[-1].supervisor_events.append(event)
        if event.get("state") == "starting":
            # The tasks of a job can begin before their supervisor sees it.
            begun.append((float(attempts[-1].supervisor_events[0]["time"]), attempts[-1]))
    opened: list[tuple[float, Attempt]] = []
    for event in task_events(run_dir, leader_of(run_dir), events) if begun else []:
        if event["event"] == "start":
            opened.append((float(event["time"]), _at(begun, float(event["time"]))))
        if opened:
            opened[-1][1].events.append(event)
    for rows in calls if opened else []:
        if len(rows):
            _at(opened, float(rows[0, 2])).calls.append(rows)
    return attempts


def _at(begun: list[tuple[float, Attempt]], moment: float) -> Attempt:
    """Return the attempt that was active at a moment."""
    earlier = [attempt for begin, attempt in begun if begin <= moment]
    return earlier[-1] if earlier else begun[0][1]
