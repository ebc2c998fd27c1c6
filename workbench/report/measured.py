"""What else was measured of a run of a report: its predictions, its scaling, and its X-rays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from workbench.experiments import scaling_wording as wording
from workbench.experiments.scaling import Scaling, saved_scaling
from workbench.pictures import xray_words
from workbench.pictures.scaling import bars
from workbench.pictures.xray import draw
from workbench.runs import RunError
from workbench.runs.programs.confusion import Confusion
from workbench.runs.programs.evaluation import saved_evaluation, weights_in_words
from workbench.runs.programs.step_xray import StepXray, WorkersXray
from workbench.runs.programs.xray import saved_xrays
from workbench.units import number, percent

from .html import Html, fold, table, tag
from .subject import Subject

MOST_CLASSES = 30
"""The most classes of a confusion matrix; with more classes only the largest confusions stand."""
MOST_XRAYS = 5
"""The most X-rays of a run, those of its last steps."""


def measured(subject: Subject) -> Iterator[Html | None]:
    """Yield the predictions, the scaling and the X-rays that are kept in the run's folder."""
    for title, part in PARTS.items():
        try:
            inside = list(part(subject))
        except RunError as error:
            inside = [tag("p", str(error), class_="warning")]
        if inside:
            yield tag("div", tag("h4", title), *inside, class_="verdict")


def _predictions(subject: Subject) -> Iterator[Html]:
    run = subject.run
    try:
        step = run.evaluated_step
    except RunError:  # nothing can be evaluated yet
        return
    found = saved_evaluation(run.dir, step)
    if found is None:
        return
    tested = f"Test accuracy {percent(found.get('test_accuracy'))}, "
    loss = number(found.get("test_loss"))
    yield tag("p", f"{tested}test loss {loss}, of {weights_in_words(step)}.")
    if found["classes"]:
        rows = [
            [each["name"], f"{each['examples']:,}", percent(each["accuracy"])]
            for each in found["classes"]
        ]
        yield table(["Class", "Examples", "Right"], rows, "Accuracy by class")
    if (confusion := Confusion.of(found)) is not None and confusion.pairs:
        yield from _confusion(confusion)


def _confusion(found: Confusion) -> Iterator[Html]:
    yield tag("p", found.summary(10))
    if len(found.classes) > MOST_CLASSES:
        return
    counts = {(each.true, each.predicted): f"{each.examples:,}" for each in found.pairs}
    rows = [
        [found.names[true], *(counts.get((true, answer), "0") for answer in found.classes)]
        for true in found.classes
    ]
    head = ["True class", *(found.names[each] for each in found.classes)]
    caption = "Confusion matrix: tests by true class, in rows, and predicted class, in columns"
    yield table(head, rows, caption)


def _scaling(subject: Subject) -> Iterator[Html]:
    found = saved_scaling(subject.run)
    if found is None:
        return
    yield tag("p", tag("strong", found.sentence))
    yield Html(bars(found))
    yield from _scaling_tables(found)
    yield from (tag("p", note, class_="quiet") for note in wording.goodput_notes(found))


def _scaling_tables(found: Scaling) -> Iterator[Html]:
    yield table(_heads(wording.HEAD), wording.larger_rows(found), "Larger batches")
    yield tag("p", wording.EXPLAINED, class_="quiet")
    yield table(_heads(wording.SCALES_HEAD), wording.scales(found), "The noise scale")
    if rows := wording.goodput_rows(found):
        yield table(_heads(wording.GOODPUT_HEAD), rows, "Goodput")


def _heads(titles: tuple[str, ...]) -> list[str]:
    return [f"{each[:1].upper()}{each[1:]}" for each in titles]


def _xrays(subject: Subject) -> Iterator[Html]:
    found = saved_xrays(subject.run.dir)
    for each in found[-MOST_XRAYS:]:
        yield fold(xray_words.summary(each), *_xray(each))
    if len(found) > MOST_XRAYS:
        yield tag("p", f"The first {len(found) - MOST_XRAYS} X-rays are left out.", class_="quiet")


def _xray(xray: StepXray | WorkersXray) -> Iterator[Html]:
    if isinstance(xray, StepXray):
        yield Html(draw(xray))
    for level, text in xray_words.remarks(xray):
        yield tag("p", text, class_="quiet" if level == "quiet" else "warning")
    if isinstance(xray, StepXray):
        yield table(xray_words.columns(xray), xray_words.rows(xray), xray_words.TITLE)
    else:
        yield table(xray_words.own_columns(), xray_words.own_rows(xray), xray_words.OWN_TITLE)


PARTS: dict[str, Callable[[Subject], Iterator[Any]]] = {
    "Predictions": _predictions,
    "Should I scale?": _scaling,
    "X-ray": _xrays,
}
"""The parts of a run, by their titles on the run's page."""
