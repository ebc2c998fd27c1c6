"""A run as numbered messages: first all of it, then the changes, and all of it on request."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.runs.records.live import LiveRun, Window

from .parts import epoch_part

if TYPE_CHECKING:
    from workbench.points import Curve, EpochPoints, Points
    from workbench.runs import Run

VERSION = 2
"""The version of the messages; a page with another version asks the user to reload it."""


@dataclass(frozen=True)
class Message:
    """JSON and the bytes that go with it.

    If there are points, the bytes are two buffers. The first is float64 [3, points]: the steps,
    examples and training seconds. The second is float32 [curve, line, points]. The curves are loss,
    accuracy and rate. The lines are each replica, then all replicas together. If a point stands for
    several steps, the least and the greatest values of each replica follow. NaN is a gap, and
    infinity is a loss that is not finite.
    """

    content: dict[str, Any]
    buffers: list[bytes]

    @property
    def bytes(self) -> int:
        """The size of the buffers."""
        return sum(map(len, self.buffers))


def nothing() -> Message:
    """Return the message for a page that has no run to show."""
    content = {"kind": "run", "version": VERSION, "feed": "", "sequence": 0, "whole": True}
    return Message({**content, "parts": {}}, [])


class RunFeed:
    """A feed of one run for any number of pages; several threads can use it.

    Messages are numbered, because Jupyter silently drops some when it is busy. A page that misses
    a message, or that is new, asks for the complete message.
    """

    def __init__(self, run: Run) -> None:
        """Prepare the feed; nothing except the plan is read yet.

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

    def news(self, parts: Mapping[str, Any] | None) -> Message | None:
        """Read the new data of the run and return it as a message; None if nothing is new.

        `parts` are what `parts_of` returns, if they were read. The first message is complete.
        """
        with self._guard:
            found = dict(parts or {})
            if self._live.poll() or parts:
                numbers = [row["epoch"] for row in self._live.epoch_rows()]
                found["epochs"] = epoch_part(numbers, self._live.epochs())
            changed = {name: part for name, part in found.items() if self._parts.get(name) != part}
            self._parts |= changed
            first = self._live.curves.changes()
            if not changed and first is None:
                return None
            self._sequence += 1
            return self._message(changed, first, whole=self._sequence == 1)

    def whole(self) -> Message:
        """Return everything sent so far, with the number of the last message.

        So the page that asks catches up with the other pages, which do not need this message.
        """
        with self._guard:
            return self._message(self._parts, 0, whole=True)

    def end(self, reason: str) -> Message:
        """Return the last message, with the reason why no more follow; later pages get it too."""
        with self._guard:
            self._parts["gone"] = reason
            self._sequence += 1
            return self._message({"gone": reason}, None, whole=False)

    def closer(self, request: str, window: Window) -> Message:
        """Return a part of the run in more detail; `request` is the page's name for the request."""
        with self._guard:
            points = self._live.closer(window)
        content, buffers = self._packed(points, 0)
        return Message({"kind": "window", "request": request, "points": content}, buffers)

    def curves(self) -> tuple[Points, EpochPoints, list[dict[str, Any]]]:
        """Return the data read so far: the curves, the ends of epochs, and the epoch events."""
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
            "synchronous": points.synchronous,
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
