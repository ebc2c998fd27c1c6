"""The watchdog of a task: the task's phase and silence, from the files that the task writes."""

from __future__ import annotations

import contextlib
import os
import statistics
import struct
from pathlib import Path
from typing import Literal

from workbench.runs.folder.events import Event, EventTail
from workbench.runs.folder.unwritten import is_full
from workbench.runs.processes.bounds import Bounds

Phase = Literal["starting", "tracing", "training", "testing", "saving"]
PHASE_AFTER: dict[str, Phase] = {
    "imported": "starting",
    "start": "tracing",
    "traced": "training",
    "test": "testing",
    "epoch": "training",
    "saving": "saving",
    "checkpoint": "training",
    "checkpoint_failed": "training",
    "finished": "saving",
    "stopped": "saving",
}
CALL_ROW = struct.Struct("<4d")
CALLS_JUDGED = 101
CALLS, OLD_CALLS = "calls.f8", ".calls"
"""The log of calls, and the ending of such files in runs of earlier releases."""
ENTERED = "entered"
"""The file in which a synchronous task notes the first step of the call that it enters."""


class Watchdog:
    """The watchdog of one attempt of one task.

    The caller passes the time, in seconds of a monotonic clock. The watchdog alarms only in
    training: imports, traces, test passes and saves may take any time. A full disk excuses
    silence, because the task cannot write anything there.
    """

    def __init__(
        self, task_dir: Path, bounds: Bounds, total_steps: int, *, begun: bool = False
    ) -> None:
        self.phase: Phase = "training" if begun else "starting"
        self.events: list[Event] = []
        self.recorded = begun
        """Whether this attempt has recorded a call."""
        self.silent_seconds = 0.0
        self.limit_seconds = bounds.stall_floor_seconds
        self._task_dir = task_dir
        self._bounds = bounds
        self._total_steps = total_steps
        self._tail = EventTail(task_dir / "events.jsonl", skip_present=True)
        self._calls = self._newest_calls()
        self._news_at = 0.0
        self._entered_step = -1
        self._stalled = False

    def begin(self, now: float) -> None:
        """Count the silence from now on."""
        self._news_at = now
        self._stalled = False

    @property
    def silent(self) -> bool:
        """Whether the task has been silent for longer than its limit."""
        return self._stalled

    @property
    def is_saving(self) -> bool:
        """Whether the task saves, or may wait to save: on a full disk it cannot report that."""
        return self.phase == "saving" or is_full(self._task_dir)

    def entered_step(self) -> int:
        """Return the first step of the last call that the task noted; -1 if it has noted none."""
        with contextlib.suppress(OSError, ValueError):
            if noted := (self._task_dir / ENTERED).read_text():  # empty during a rewrite
                self._entered_step = int(noted)
        return self._entered_step

    def poll(self, now: float, leader: Watchdog | None = None) -> None:
        """Read new events and calls, and note whether the task is silent for too long.

        `leader` is the watchdog of the task that gives this task its work. Its `poll` must be
        called first, because the leader's phase counts here. A task without work may be silent,
        so its silence counts from the leader's last news.
        """
        news = self._tail.poll()
        calls = self._newest_calls()
        grown = calls != self._calls and bool(recent_calls(self._task_dir / calls[0], 1))
        self._calls = calls
        self.events += news
        for event in news:
            self.phase = self._phase_after(event)
        if grown:
            self.recorded = True
            if self.phase in ("starting", "tracing"):
                self.phase = "training"
        led_on = leader is not None and leader.silent_seconds == 0.0
        excused = not self._stalled and (led_on or is_full(self._task_dir))
        if news or grown or excused:
            self._news_at = now
        self.silent_seconds = now - self._news_at
        led = leader is not None and leader.phase not in ("starting", "tracing")
        self._note_silence(leader.phase if leader and led else self.phase)

    def _phase_after(self, event: Event) -> Phase:
        phase = PHASE_AFTER.get(event["event"], self.phase)
        ended = phase == "training" and self._total_steps <= event.get("step", 0)
        return "saving" if ended else phase

    def _note_silence(self, phase: Phase) -> None:
        if self._stalled:
            self._stalled = self.silent_seconds > 0.0
        elif (
            phase == "training"
            and self.recorded
            and self.silent_seconds >= self._bounds.stall_floor_seconds
        ):
            self.limit_seconds = self._limit()
            self._stalled = self.silent_seconds >= self.limit_seconds

    def _limit(self) -> float:
        calls = recent_calls(self._task_dir / self._calls[0])
        seconds = [seconds for _, _, _, seconds in calls]
        median = statistics.median(seconds) if seconds else 0.0
        return max(self._bounds.stall_floor_seconds, self._bounds.stall_factor * median)

    def _newest_calls(self) -> tuple[str, int]:
        """Return name and size of the newest log of calls; they change when a call ends."""
        with contextlib.suppress(OSError), os.scandir(self._task_dir) as entries:
            files = [e for e in entries if e.name == CALLS or e.name.endswith(OLD_CALLS)]
            newest = max(files, key=lambda entry: entry.name, default=None)
            return (newest.name, newest.stat().st_size) if newest else ("", 0)
        return ("", 0)


def recent_calls(path: Path, most: int = CALLS_JUDGED) -> list[tuple[float, float, float, float]]:
    """Return the calls in the newest rows of a log: first step, steps, start, seconds.

    A start is in seconds since 1970. Rows that begin an attempt are left out.
    """
    try:
        with path.open("rb") as file:
            rows = os.fstat(file.fileno()).st_size // CALL_ROW.size
            file.seek(max(0, rows - most) * CALL_ROW.size)
            content = file.read(min(rows, most) * CALL_ROW.size)
    except OSError:
        return []
    whole = content[: len(content) // CALL_ROW.size * CALL_ROW.size]
    return [(a, b, c, d) for a, b, c, d in CALL_ROW.iter_unpack(whole) if b]
