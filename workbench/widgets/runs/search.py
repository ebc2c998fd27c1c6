"""Search and order of a list of runs, from summaries that are read once for each ended run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from workbench import catalog
from workbench.runs.folder.state import LIVE
from workbench.runs.listing import why_unreadable

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.runs import Run
    from workbench.runs.outline import Outline

NEWEST = "newest"
ORDERS: Mapping[str, Callable[[Outline], float | None]] = {
    "test accuracy": lambda outline: outline.test_accuracy,
    "duration": lambda outline: outline.seconds,
    "examples per second": lambda outline: outline.examples_per_second,
}
"""The orders besides the newest first: the highest value first, unknown values last."""


@dataclass(frozen=True)
class Summary:
    """The values of a run that the list shows; `outline` is None if the run cannot be read."""

    title: str
    outline: Outline | None
    error: str = ""

    @property
    def alive(self) -> bool:
        """Whether the run is alive."""
        return self.outline is not None and self.outline.status in LIVE


class Summaries:
    """The summaries of runs. An ended run is read again only if its events file has changed."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[object, Summary]] = {}

    def of(self, run: Run) -> Summary:
        """Return the summary of a run as it is now."""
        stamp = _stamp(run.dir)
        before, summary = self._kept.get(run.id, (None, None))
        if summary is not None and before == stamp:
            return summary
        summary = _read(run)
        if summary.outline is not None and not summary.alive:
            self._kept[run.id] = stamp, summary
        return summary

    def arranged(self, runs: Sequence[Run], text: str, order: str) -> list[Run]:
        """Return the runs that have every word of a text, in an order; `runs` are newest first."""
        words = text.lower().split()
        found = [(run, summary) for run in runs if _has(words, run, summary := self.of(run))]
        value = ORDERS.get(order)
        if value is not None:
            found.sort(key=lambda each: _rank(value, each[1].outline))
        return [run for run, _ in found]


def _read(run: Run) -> Summary:
    title = run.title
    try:
        return Summary(title, run.outline)
    except Exception as error:  # an error of one run must not hide the other runs
        return Summary(title, None, why_unreadable(error))


def _stamp(run_dir: Path) -> object:
    """Return a value that changes when a run goes on, and each day, because titles have dates."""
    try:
        events = (run_dir / "events.jsonl").stat()
    except OSError:
        return None
    return date.today(), events.st_mtime_ns, events.st_size, events.st_ino


def _has(words: Sequence[str], run: Run, summary: Summary) -> bool:
    outline = summary.outline
    parts = [summary.title, run.id]
    if outline is None:
        parts.append("unreadable")
    else:
        parts += [outline.status, outline.who_trains]
        for field in ("model", "strategy", "data", "loop"):
            value = str(getattr(outline, field))
            parts += [value, catalog.label_of(field, value)]
    text = " ".join(parts).lower()
    return all(word in text for word in words)


def _rank(value: Callable[[Outline], float | None], outline: Outline | None) -> tuple[bool, float]:
    known = None if outline is None else value(outline)
    return known is None, -(known or 0.0)
