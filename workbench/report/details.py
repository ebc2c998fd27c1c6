"""The part of a report about each single run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from workbench.units import duration, number, percent

from .html import Html, code, fold, section, table, tag
from .measured import measured
from .subject import Subject
from .svg import bar
from .verdict import verdict

if TYPE_CHECKING:
    from workbench.runs.records.ledger import Entry

MOST_EPOCHS = 200
MOST_EPOCHS_IN_ALL = 2_000
"""The limit for all runs together: the last epochs of each run, but at least ten of a run."""
MEASURES: dict[str, Callable[[float], str]] = {
    "loss": number,
    "accuracy": percent,
    "test_loss": number,
    "test_accuracy": percent,
}


def runs(subjects: Sequence[Subject]) -> Html:
    """Return a part for each run: its failure, use of time, verdict, other measurements, epochs."""
    most = max(10, min(MOST_EPOCHS, MOST_EPOCHS_IN_ALL // len(subjects)))
    return section("Runs", *(_run(each, most) for each in subjects))


def _run(subject: Subject, most_epochs: int) -> Html:
    first_step = subject.ledger.first_step
    return tag(
        "article",
        tag("h3", subject.title),
        tag("p", subject.plan.arithmetic, class_="quiet"),
        _failure(subject),
        _missing(subject),
        _bar("From the click to the first step", first_step, _sum_of(first_step)),
        _bar("The whole run", subject.ledger.whole, subject.ledger.seconds or 0.0),
        verdict(subject),
        *measured(subject),
        _epochs(subject, most_epochs),
        id=subject.anchor,
    )


def _failure(subject: Subject) -> Html | None:
    failure = subject.failure
    if failure is None:
        return None
    log = fold("The end of its log", code(failure.log_tail)) if failure.log_tail else None
    cause = failure.cause or f"It is {subject.result['status']}, and no cause is recorded."
    message = tag("p", tag("strong", cause), " ", failure.fix)
    return tag("div", message, log, class_="warning")


def _missing(subject: Subject) -> Html | None:
    if not subject.missing:
        return None
    ranges = ", ".join(f"{first:,} to {last:,}" for first, last in subject.missing[:10])
    return tag("p", f"Steps done but not recorded: {ranges}.", class_="warning")


def _sum_of(entries: Sequence[Entry]) -> float:
    return sum(entry.seconds for entry in entries)


def _bar(title: str, entries: Sequence[Entry], seconds: float) -> Html | None:
    """Return a bar that shows the use of `seconds`, with their parts in words."""
    whole = _sum_of(entries)
    return bar(
        f"{title}: {duration(seconds)}",
        [
            (
                f"{entry.label} {duration(entry.seconds)} ({entry.seconds / whole:.0%})",
                entry.seconds,
            )
            for entry in (entries if whole else ())
        ],
    )


def _epochs(subject: Subject, most: int) -> Html | None:
    frame = subject.epochs
    if not len(frame):
        return None
    further = [
        name
        for name in frame.columns
        if name not in (*MEASURES, "epoch", "examples", "seconds", "steps")
    ]
    readers = MEASURES | dict.fromkeys(further, number)
    head = [
        "Epoch",
        *(name.replace("_", " ").capitalize() for name in readers),
        "Examples",
        "Seconds",
    ]
    rows = [
        [
            str(row["epoch"]),
            *(read(float(row[name])) for name, read in readers.items()),
            f"{row['examples']:,}",
            number(float(row["seconds"])),
        ]
        for row in frame.tail(most).to_dict("records")
    ]
    left_out = len(frame) - len(rows)
    note = f"The first {left_out:,} epochs are left out." if left_out else ""
    caption = f"Training and test of each epoch of {subject.title}"
    return fold(
        f"Epochs: {len(frame):,}", tag("p", note) if note else None, table(head, rows, caption)
    )
