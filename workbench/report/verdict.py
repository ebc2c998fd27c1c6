"""The verdict on a run of a report: where the time of its step goes, and the slowest task."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from workbench.runs import Run, RunError
from workbench.verdict import Verdict, saved_verdict, wording, worker_speeds
from workbench.verdict.recorded import slowest_of
from workbench.verdict.wording import PartRow

from .html import Html, fold, table, tag
from .subject import Subject
from .svg import bar

HEAD = ("Part of a step", "Time", "95 %", "Share", "Meaning")
OWN_HEAD = ("Worker", "Time per step", "Waiting for its batch", "")
NO_SLOWEST = "No worker is significantly slower than all others."


def verdict(subject: Subject) -> Html:
    """Return the parts of the run's step as they were measured, or why they are unknown."""
    return tag("div", tag("h4", "Verdict"), *_verdict(subject), class_="verdict")


def _verdict(subject: Subject) -> Iterator[Html | None]:
    if not len(subject.points.step):
        yield _quiet("It has recorded no step.")
        return
    try:
        if not subject.plan.synchronous:
            yield from _worker_speeds(subject)
        elif (found := saved_verdict(subject.run)) is None:
            yield _quiet(
                "The parts of its step were not measured. To measure them, click Find out under "
                f"Why is it slow?, or type: workbench why {shlex.quote(str(subject.run.dir))}"
            )
        else:
            yield from _measured(found, subject.run)
    except RunError as error:
        yield tag("p", str(error), class_="warning")


def _measured(found: Verdict, run: Run) -> Iterator[Html | None]:
    rows = list(wording.part_rows(found.breakdown))
    yield _answer(found, run)
    yield _bar(found, rows)
    yield from map(_quiet, wording.paces(found.breakdown))
    yield from (
        tag("p", f"{each}.", class_="warning") for each in wording.unmeasured(found.breakdown)
    )
    yield _quiet(f"{wording.parts_sum(found.breakdown)} {wording.recorded(found)}")
    yield fold("The parts of its step", table(HEAD, map(_cells, rows), "The parts of its step"))


def _answer(found: Verdict, run: Run) -> Html:
    if not found.decided:
        again = f"Type: {wording.again(found, run.dir)}"
        return tag("p", f"{found.sentence} {found.advice} {again}", class_="warning")
    suggestion = found.suggestion
    advice = (
        found.advice if suggestion is None else f"Try {suggestion.in_words}. {suggestion.reason}"
    )
    return tag("p", tag("strong", found.sentence), " ", advice)


def _bar(found: Verdict, rows: list[PartRow]) -> Html | None:
    parts = [
        (f"{row.name} {row.time} ({row.share:.1%})", row.share)
        for row in rows
        if not row.within_compute
    ]
    text = wording.step(found.breakdown)
    return bar(text[:1].upper() + text[1:], parts)


def _cells(row: PartRow) -> list[str]:
    name = f"of which {row.name}" if row.within_compute else row.name
    return [name, row.time, row.interval, f"{row.share:.1%}", row.meaning]


def _worker_speeds(subject: Subject) -> Iterator[Html]:
    """Yield the recorded speed of each worker of a run whose workers wait for nobody."""
    speeds = worker_speeds(subject.run)
    slowest = slowest_of(speeds)
    named = NO_SLOWEST if slowest is None else f"The slowest task is {slowest.task}."
    yield tag("p", tag("strong", named))
    yield table(OWN_HEAD, wording.worker_speed_rows(speeds), "The speed of each worker")
    yield _quiet(wording.OWN)


def _quiet(text: str) -> Html:
    return tag("p", text, class_="quiet")
