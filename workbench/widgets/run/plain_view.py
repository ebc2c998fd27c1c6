"""The opened run as text, figures and buttons, for pages that do not run the run view's code."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import ipywidgets as ipw
import numpy as np

from workbench import charts, units
from workbench.feed import describe, ends_of_logs
from workbench.runs.records.epochs import column_of, metric_columns
from workbench.widgets.kernel.host import HELP, host
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import html, styled
from workbench.widgets.pictures.png import data_uri

if TYPE_CHECKING:
    from workbench.feed import RunFeed
    from workbench.points import EpochPoints, Points
    from workbench.runs import Run, Summary
    from workbench.runs.records.step_files import Doubles

    from .widget import Act

LABELS = {
    "stop": "Stop",
    "resume": "Resume",
    "train_on": "Continue to epoch {epochs}",
    "settings": "Use these settings",
    "pack": "Pack as .zip",
    "delete": "Delete ...",
}
PLOTLY_MIME = "application/vnd.plotly.v1+json"


class PlainView:
    """A view with the content of the run view, made of parts that every host can draw.

    It is updated at a low rate. The figure is sent both as a plotly figure and as a picture, and
    the host shows the best form that it can show.
    """

    def __init__(self, act: Act) -> None:
        where = host()
        missing = f"The live view did not load. In {where}: {HELP[where]}"
        self._act = act
        self._offered: list[str] = []
        self._more_epochs = 0
        self._resume_step: int | None = None
        self._head = html(description="Opened run")
        self._figure = ipw.Output()
        self._buttons = styled(ipw.HBox, "wb-row", children=[])
        self._text = html(description="Epochs and log")
        help_text = html(markup.notice("warning", missing), description="Help for this page")
        parts = [help_text, self._head, self._buttons, self._figure, self._text]
        self.box = styled(ipw.VBox, "wb-run", children=parts)

    def show(self, summary: Summary, feed: RunFeed) -> None:
        """Show the run as it is now."""
        points, epochs, rows = feed.curves()
        self._head.value = head(summary)
        self._text.value = epoch_table(rows) + log(feed.run)
        self._figure.outputs = (_output(points, epochs, summary),)
        step = summary.resume_step
        if (summary.actions, step) != (self._offered, self._resume_step):
            self._offered, self._more_epochs = summary.actions, 2 * summary.progress.epochs
            self._resume_step = step
            self._offer()

    def _offer(self) -> None:
        offered = [*self._offered, "settings", "pack"]
        clicked = {name: self._does(name) for name in offered} | {"delete": self._ask}
        self._buttons.children = [_button(self._label(name), clicked[name]) for name in offered]

    def _label(self, name: str) -> str:
        if name == "resume" and self._resume_step is not None:
            return f"Resume from step {self._resume_step:,}"
        return LABELS[name].format(epochs=self._more_epochs)

    def _ask(self, _: Any) -> None:
        question = "Delete the run with its records, checkpoints and model permanently?"
        text = html(markup.notice("warning", question), description="Question")
        keep = _button("Keep it", lambda _: self._offer())
        self._buttons.children = [text, _button("Delete it", self._does("delete")), keep]

    def _does(self, name: str) -> Callable[[Any], None]:
        epochs = self._more_epochs if name == "train_on" else None
        return lambda _: self._act(name, epochs, "")


def head(summary: Summary) -> str:
    """Return the run's title, state, progress and failure (HTML)."""
    name = f'<span class="wb-title">{markup.text(summary.title)}</span>'
    return (
        f'<div class="wb-run-head" role="status">{name}{markup.pill(summary.status)}</div>'
        f"{markup.quiet(describe(summary.plan))}{_progress(summary)}{_failure(summary)}"
    )


def epoch_table(rows: list[dict[str, Any]]) -> str:
    """Return a table of the train and test numbers of each epoch, as far as known (HTML)."""
    if not rows:
        return markup.quiet("No epoch has ended yet.")
    columns: dict[str, tuple[Doubles, Callable[[float], str]]] = {
        "Loss": (column_of(rows, "loss"), units.number),
        "Accuracy": (column_of(rows, "accuracy"), units.percent),
        "Test loss": (column_of(rows, "test_loss"), units.number),
        "Test accuracy": (column_of(rows, "test_accuracy"), units.percent),
        **{name: (values, units.number) for name, values in metric_columns(rows).items()},
    }
    known = {name: column for name, column in columns.items() if not np.isnan(column[0]).all()}
    cells = [
        (
            str(row["epoch"]),
            f"{row['step']:,}",
            *(form(values[at]) for values, form in known.values()),
        )
        for at, row in enumerate(rows)
    ]
    names = ("Epoch", "Step", *known)
    return markup.table("Train and test of each epoch", names, cells, numeric=range(len(names)))


def log(run: Run) -> str:
    """Return the end of the log of each task that has a log (HTML)."""
    written = {task: text for task, text in ends_of_logs(run).items() if text}
    if not written:
        return markup.quiet("The logs are still empty.")
    return "".join(
        markup.scrolling(
            f"End of the log of {task}", f'<pre class="wb-log">{markup.text(text)}</pre>', "wb-tail"
        )
        for task, text in written.items()
    )


def _progress(summary: Summary) -> str:
    progress = summary.progress
    share = progress.step / progress.total_steps if progress.total_steps else 0.0
    parts = [
        f"Epoch {progress.epoch} of {progress.epochs}",
        f"step {progress.step:,} of {progress.total_steps:,} ({share:.0%})",
    ]
    if progress.steps_per_second is not None:
        parts.append(f"{units.number(progress.steps_per_second, 3)} steps per second")
    if summary.examples_per_second is not None:
        parts.append(f"{units.number(summary.examples_per_second)} examples per second")
    if summary.alive and progress.eta_seconds is not None:
        parts.append(f"{units.duration(progress.eta_seconds)} left")
    if summary.alive:
        parts.append(progress.doing)
    note = markup.notice("info", progress.note) if progress.note else ""
    return f"<div>{markup.text(', '.join(parts))}</div>{note}"


def _failure(summary: Summary) -> str:
    failure = summary.failure
    if failure is None:
        return ""
    return markup.notice("error", f"{failure.cause} (task: {failure.task})") + markup.notice(
        "info", f"What to change: {failure.fix}"
    )


def _output(points: Points, epochs: EpochPoints, summary: Summary) -> dict[str, Any]:
    virtual = summary.plan.virtual
    figure = charts.run_figure(points, epochs, virtual=virtual)
    picture = data_uri(charts.picture(points, epochs, virtual=virtual)).partition(",")[2]
    data = {
        PLOTLY_MIME: json.loads(figure.to_json()),
        "image/png": picture,
        "text/plain": "Loss, accuracy and throughput",
    }
    return {"output_type": "display_data", "data": data, "metadata": {}}


def _button(label: str, clicked: Callable[[Any], None]) -> Any:
    button = ipw.Button(description=label, tooltip=label)
    button.on_click(clicked)
    return button
