"""Search and order of a list of runs, from summaries that are read once for each ended run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING

from workbench import catalog
from workbench.runs.listing import Unreadable, summary_in_list
from workbench.runs.summary import Summary

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.runs import Run

NEWEST = "newest"
ORDERS: Mapping[str, Callable[[Summary], float | None]] = {
    "test accuracy": lambda summary: summary.results["test_accuracy"],
    "duration": lambda summary: summary.seconds,
    "examples per second": lambda summary: summary.examples_per_second,
}
"""The orders besides the newest first: the highest value first, unknown values last."""


class Summaries:
    """The summaries of runs. An ended run is read again only if its events file has changed."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[object, Summary]] = {}

    def of(self, run: Run) -> Summary | Unreadable:
        """Return the summary of a run as it is now."""
        stamp = _stamp(run.dir)
        before, kept = self._kept.get(run.id, (None, None))
        if kept is not None and before == stamp:
            return kept
        summary = summary_in_list(run)
        if isinstance(summary, Summary) and not summary.alive:
            self._kept[run.id] = stamp, summary
        return summary

    def arranged(self, runs: Sequence[Run], text: str, order: str) -> list[Run]:
        """Return the runs that have every word of a text, in an order; `runs` are newest first."""
        words = text.lower().split()
        found = [(run, summary) for run in runs if _has(words, run, summary := self.of(run))]
        value = ORDERS.get(order)
        if value is not None:
            found.sort(key=lambda each: _rank(value, each[1]))
        return [run for run, _ in found]


def _stamp(run_dir: Path) -> object:
    """Return a value that changes when a run goes on, and each day, because titles have dates."""
    try:
        events = (run_dir / "events.jsonl").stat()
    except OSError:
        return None
    return date.today(), events.st_mtime_ns, events.st_size, events.st_ino


def _has(words: Sequence[str], run: Run, summary: Summary | Unreadable) -> bool:
    parts = [summary.title, run.id, summary.status]
    if isinstance(summary, Summary):
        parts.append(summary.plan.who_trains)
        for field in ("model", "strategy", "data", "loop"):
            value = str(getattr(summary.plan, field))
            parts += [value, catalog.label_of(field, value)]
    text = " ".join(parts).lower()
    return all(word in text for word in words)


def _rank(
    value: Callable[[Summary], float | None], summary: Summary | Unreadable
) -> tuple[bool, float]:
    known = value(summary) if isinstance(summary, Summary) else None
    return known is None, -(known or 0.0)
