"""The charts of a report: the replicas of one run, or several runs in the same charts."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.charts import Line, lines
from workbench.charts.comparison import EACH_ITS_OWN
from workbench.points import Values

from .html import Html, joined, section, tag
from .subject import Subject
from .svg import chart, legend

LOSS, ACCURACY, RATE = range(3)
RATE_TITLE = "Examples per second"


def curves(subjects: Sequence[Subject]) -> Html | None:
    """Return the charts; None if no run has recorded a step."""
    drawn = [subject for subject in subjects if len(subject.points.step)]
    if not drawn:
        return None
    inside = _of_one(drawn[0]) if len(subjects) == 1 else _over_each_other(drawn)
    return section("Charts", tag("p", _about(drawn), class_="quiet"), inside)


def _of_one(subject: Subject) -> Html:
    points, plan = subject.points, subject.plan
    every = lines(points, subject.epoch_points, virtual=plan.virtual)
    across = "step" if points.synchronous else "worker's own steps"
    return joined([_charts(every, across), legend([each for each in every if each.in_legend])])


def _over_each_other(subjects: Sequence[Subject]) -> Html:
    every = [line for subject in subjects for line in _lines_of(subject)]
    by_time = [
        line for subject in subjects for line in _lines_of(subject, subject.points.training_seconds)
    ]
    timed = [line for line in by_time if line.chart == LOSS]
    return joined(
        [
            _charts(every, "step", chart("Loss by time", "seconds of training", timed)),
            legend([line for line in every if line.chart == LOSS]),
        ]
    )


def _charts(every: Sequence[Line], across: str, *more: Html) -> Html:
    def of(number: int) -> list[Line]:
        return [line for line in every if line.chart == number]

    known = [line for line in of(ACCURACY) if bool((line.y == line.y).any())]
    return tag(
        "div",
        chart("Loss", across, of(LOSS)),
        chart("Accuracy", across, of(ACCURACY)) if known else None,
        chart(RATE_TITLE, across, of(RATE), zero=True),
        *more,
        class_="charts",
    )


def _lines_of(subject: Subject, across: Values | None = None) -> list[Line]:
    """Return a run's lines over all replicas, or per worker if workers are asynchronous."""
    points = subject.points
    x = points.step if across is None else across
    style = {"mode": "lines", "line": {"color": subject.color, "dash": subject.dash, "width": 1.25}}
    made = []
    for number, curve in enumerate(points.curves):
        ys = points.over_replicas(curve)
        made += [Line(subject.title, number, x, y, style, in_legend=True) for y in ys]
    return made


def _about(subjects: Sequence[Subject]) -> str:
    stretches = sorted({subject.points.steps_a_point for subject in subjects})
    notes = [
        "A gap means that nothing was recorded. Examples per second count only time spent in calls."
    ]
    if stretches[-1] > 1:
        notes.append(f"Each point is the mean of up to {stretches[-1]:,} steps.")
    if len(subjects) > 1:
        notes.append("Each line is a run over all its replicas.")
    if any(subject.plan.virtual for subject in subjects):
        notes.append("Virtual replicas share one device, so their speeds mean little.")
    if not all(subject.points.synchronous for subject in subjects):
        notes.append(EACH_ITS_OWN)
    return " ".join(notes)
