"""A run as numbered messages: first all of it, then what changed; the whole again on request."""

from __future__ import annotations

import secrets
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.runs.records.live import LiveRun, Window

from .account import RunSnapshot, account, epoch_part

if TYPE_CHECKING:
    from workbench.points import Curve, EpochPoints, Points
    from workbench.runs import Run

VERSION = 2
"""Of the messages; a page that speaks another one is told to load again."""


@dataclass(frozen=True)
class Message:
    """JSON and the bytes that go with it.

    The bytes are two buffers where there are points: float64 [3, points], the steps, examples and
    training seconds; and float32 [curve, line, points], the curves being loss, accuracy and rate
    and the lines the replicas, all of them together, and, where a point stands for several steps,
    the least and the greatest of each replica. NaN is a gap, infinity a loss that is no number.
    """

    content: dict[str, Any]
    buffers: list[bytes]

    @property
    def bytes(self) -> int:
        """The size of the buffers."""
        return sum(map(len, self.buffers))


def nothing() -> Message:
    """Return the message that there is no run to show."""
    content = {"kind": "run", "version": VERSION, "feed": "", "sequence": 0, "whole": True}
    return Message({**content, "parts": {}}, [])


class RunFeed:
    """Follows one run for any number of pages; can be asked from several threads.

    Messages are numbered, because Jupyter drops some without a word when it is busy; a page that
    misses one, or is new, asks for the whole.
    """

    def __init__(self, run: Run) -> None:
        """Read nothing yet.

        Raises:
            RunError: the run's plan cannot be read.
        """
        self.run = run
        self.plan = run.plan
        self._live = LiveRun(run.dir, self.plan)
        self._guard = threading.Lock()
        self._name = secrets.token_hex(4)
        self._sequence = 0
        self._parts: dict[str, Any] = {}

    def news(self, look: RunSnapshot | None) -> Message | None:
        """Read what is new and return it; None where nothing is. `look` is a newer account.

        The first message is the whole.
        """
        with self._guard:
            parts = account(look) if look else {}
            if self._live.poll() or look:
                numbers = [row["epoch"] for row in self._live.epoch_rows()]
                parts["epochs"] = epoch_part(numbers, self._live.epochs())
            changed = {name: part for name, part in parts.items() if self._parts.get(name) != part}
            self._parts |= changed
            first = self._live.curves.changes()
            if not changed and first is None:
                return None
            self._sequence += 1
            return self._message(changed, first, whole=self._sequence == 1)

    def whole(self) -> Message:
        """Return everything told so far, under the number of what was told last.

        So a page that asks is as far as the others, who need not hear it.
        """
        with self._guard:
            return self._message(self._parts, 0, whole=True)

    def end(self, reason: str) -> Message:
        """Return the last message, to this and every later page: why no more can be told."""
        with self._guard:
            self._parts["gone"] = reason
            self._sequence += 1
            return self._message({"gone": reason}, None, whole=False)

    def closer(self, request: str, window: Window) -> Message:
        """Return a part of the run in more detail; `request` is whatever the page calls it."""
        with self._guard:
            points = self._live.closer(window)
        content, buffers = self._packed(points, 0)
        return Message({"kind": "window", "request": request, "points": content}, buffers)

    def curves(self) -> tuple[Points, EpochPoints, list[dict[str, Any]]]:
        """Return the curves, the ends of epochs as points, and as events, as read so far."""
        with self._guard:
            return self._live.points(), self._live.epochs(), self._live.epoch_rows()

    def _message(self, parts: dict[str, Any], first: int | None, *, whole: bool) -> Message:
        content: dict[str, Any] = {
            "kind": "run",
            "version": VERSION,
            "feed": self._name,
            "sequence": self._sequence,
            "whole": whole,
            "parts": parts,
        }
        if first is None:
            return Message(content, [])
        points, buffers = self._packed(self._live.curves.points(first), first)
        return Message({**content, "points": points}, buffers)

    def _packed(self, points: Points, first: int) -> tuple[dict[str, Any], list[bytes]]:
        spans = points.steps_a_point > 1
        content = {
            "from": first,
            "replicas": points.replicas,
            "workers": points.workers,
            "together": points.synchronous,
            "virtual": self.plan.virtual,
            "stepsAPoint": points.steps_a_point,
            "spans": spans,
        }
        across = np.stack([points.step, points.examples, points.training_seconds])
        lines = [_lines(curve, spans=spans) for curve in points.curves]
        lines[0][: points.replicas][points.nonfinite.T] = np.inf
        return content, [across.astype("<f8").tobytes(), np.concatenate(lines).tobytes()]


def _lines(curve: Curve, *, spans: bool) -> Any:
    columns = [curve.mean, curve.joined[:, None], *([curve.low, curve.high] if spans else [])]
    return np.concatenate(columns, axis=1).T.astype("<f4")
