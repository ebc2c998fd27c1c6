"""One run as it goes: state, progress, charts, log, and why it failed if it did."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ipywidgets as ipw

from workbench import catalog

from . import markup
from .chart_view import ChartView
from .live import LiveRun
from .poller import Poller

if TYPE_CHECKING:
    from workbench.charts import EpochPoints, Points
    from workbench.plan import Plan
    from workbench.runs import Failure, Progress, Run

LOG_LINES = 40


@dataclass(frozen=True)
class Look:
    """What one look at a run found."""

    run: Run
    plan: Plan
    status: str
    progress: Progress
    points: Points
    epochs: EpochPoints
    epoch_rows: list[dict[str, Any]]

    @property
    def alive(self) -> bool:
        return self.status in markup.LIVE_STATES


class RunView:
    """Shows the opened run and follows it in a thread of its own until it is over."""

    def __init__(self) -> None:
        self.run: Run | None = None
        self._lock = threading.RLock()
        self._poller: Poller | None = None
        self._looked: Callable[[Look], None] = lambda look: None
        self._head = ipw.HTML(description="Opened run")
        self._progress = ipw.HTML(description="Progress")
        self._message = ipw.HTML(description="Messages of the run")
        self._charts = ChartView()
        self._epochs = ipw.HTML(description="Epochs")
        self._log = ipw.HTML(description="Log")
        self._folded = ipw.Accordion(children=[self._epochs, self._log], selected_index=None)
        self._folded.set_title(0, "Epochs")
        self._folded.set_title(1, "Log")
        parts = [self._head, self._progress, self._message, self._charts.box, self._folded]
        self.box = ipw.VBox(parts)
        self.box.add_class("wb-run")
        self._show_nothing()

    def on_look(self, looked: Callable[[Look], None]) -> None:
        """Call `looked`, in the following thread, after each look at the run."""
        self._looked = looked

    def open(self, run: Run) -> None:
        """Show this run from its beginning and follow it if it lives; returns at once."""
        self.close()
        with self._lock:
            self.run = run
            self._head.value = _head(run, None, "")
            self._progress.value = markup.quiet("Reading the run ...")
            self._folded.layout.display = None
            follower = _Follower(run, self._show, self._charts)
            self._poller = Poller(follower.look, self._failed)

    def close(self) -> None:
        """Stop following and show no run; the run itself goes on."""
        with self._lock:
            if self._poller is not None:
                self._poller.stop()
            self.run = self._poller = None
            self._charts.clear()
            self._show_nothing()

    def wait(self, timeout_seconds: float | None = None) -> bool:
        """Wait until the opened run is over and shown; return whether it is."""
        poller = self._poller
        return poller is None or poller.wait(timeout_seconds)

    def look_now(self) -> None:
        """Look at the run without waiting for the next turn."""
        if self._poller is not None:
            self._poller.look_now()

    def _show(self, look: Look, changed: bool) -> None:
        with self._lock:
            if self.run is not look.run:
                return
            self._head.value = _head(look.run, look.plan, look.status)
            self._progress.value = _progress(look)
            failure = None if look.alive else look.run.failure
            self._message.value = _failure(failure) if failure else ""
            self._log.value = _log(look.run)
            self._epochs.value = epoch_table(look.epoch_rows)
            virtual = look.plan.virtual
            if changed or not look.alive:
                self._charts.show(look.points, look.epochs, virtual=virtual)
        self._looked(look)

    def _failed(self, error: Exception) -> None:
        with self._lock:
            self._message.value = markup.notice("error", f"The run cannot be shown: {error}")

    def _show_nothing(self) -> None:
        self._head.value = markup.quiet("No run is open. Train starts one; it appears here.")
        self._progress.value = self._message.value = ""
        self._folded.layout.display = "none"


class _Follower:
    """Looks at one run until it is over."""

    def __init__(self, run: Run, show: Callable[[Look, bool], None], charts: ChartView) -> None:
        self._run, self._show, self._charts = run, show, charts
        self._live = LiveRun(run)
        self._plan = run.plan
        self._shown = False

    def look(self) -> float | None:
        """Look once; return the seconds to wait, or None when the run is over."""
        started = time.monotonic()
        status = self._run.status
        changed = self._live.poll() or not self._shown
        live = self._live
        look = Look(self._run, self._plan, status, self._run.progress, live.points(),
                    live.epochs(), live.epoch_rows())  # fmt: skip
        self._show(look, changed)
        self._shown = True
        if not look.alive:
            return None
        return max(0.05, self._charts.every_seconds - (time.monotonic() - started))


def title_of(run: Run) -> str:
    """Return what a run is called: its name, else its id."""
    return run.name or run.id


def _head(run: Run, plan: Plan | None, status: str) -> str:
    name = f'<span class="wb-title">{markup.text(title_of(run))}</span>'
    state = markup.pill(status) if status else ""
    about = f"{run.id}" if run.name else ""
    if plan:
        about = ", ".join(filter(None, [about, describe(plan)]))
    return f'<div class="wb-run-head" role="status">{name}{state}</div>{markup.quiet(about)}'


def describe(plan: Plan) -> str:
    """Return a run's make in a line: strategy, replicas, loop, data, model, batch."""
    kind = "virtual " if plan.virtual else ""
    data, model = catalog.DATA.get(plan.data), catalog.MODELS.get(plan.model)
    many = plan.num_replicas_in_sync
    replicas = f"{many} {kind}replica{'s' * (many != 1)}"
    return (
        f"{model.label if model else plan.model} on {data.label if data else plan.data}, "
        f"{catalog.LOOPS[plan.loop].label}, {plan.strategy_label} on {replicas}, "
        f"{plan.per_replica_batch_size} a replica, {plan.global_batch_size} in all"
    )


def _progress(look: Look) -> str:
    progress = look.progress
    share = progress.step / progress.total_steps if progress.total_steps else 0.0
    parts = [
        f"Epoch {progress.epoch} of {progress.epochs}",
        f"step {progress.step:,} of {progress.total_steps:,} ({share:.0%})",
    ]
    if progress.steps_per_second is not None:
        parts.append(f"{markup.number(progress.steps_per_second, 3)} steps a second")
    if look.alive and progress.eta_seconds is not None:
        parts.append(f"{markup.duration(progress.eta_seconds)} left")
    if look.alive:
        parts.append(progress.phase)
    note = markup.notice("info", progress.note) if progress.note else ""
    return (
        f'<div class="wb-bar" role="progressbar" aria-label="Steps done" aria-valuemin="0" '
        f'aria-valuemax="{progress.total_steps}" aria-valuenow="{progress.step}">'
        f'<div style="width:{share:.2%}"></div></div>'
        f"<div>{markup.text(', '.join(parts))}</div>{_latest(look)}{note}"
    )


def _latest(look: Look) -> str:
    """Return the last point of each chart in words."""
    points = look.points
    if not len(points.step):
        return ""
    speed = "examples a second over the call's time"
    virtual = " on virtual replicas" if look.plan.virtual else ""
    parts = [
        f"loss {markup.number(points.mean_loss[-1])}",
        f"accuracy {markup.percent(points.mean_accuracy[-1])}",
        f"{markup.number(float(points.total_rate[-1]), 3)} {speed}{virtual}",
    ]
    tested = [row for row in look.epoch_rows if row.get("test_accuracy") is not None]
    if tested:
        parts.append(f"test accuracy {markup.percent(tested[-1]['test_accuracy'])}")
    return markup.quiet(f"Last: {', '.join(parts)}")


def epoch_table(rows: list[dict[str, Any]]) -> str:
    """Return train and test numbers of each epoch."""
    if not rows:
        return markup.quiet("No epoch is over yet.")
    cells = [
        (str(row["epoch"]), f"{row['step']:,}", markup.number(row.get("loss")),
         markup.percent(row.get("accuracy")), markup.number(row.get("test_loss")),
         markup.percent(row.get("test_accuracy")))
        for row in rows
    ]  # fmt: skip
    names = ("Epoch", "Step", "Loss", "Accuracy", "Test loss", "Test accuracy")
    return markup.table("Train and test of each epoch", names, cells, numeric=range(6))


def _failure(failure: Failure) -> str:
    tail = f'<pre class="wb-log">{markup.text(failure.log_tail)}</pre>' if failure.log_tail else ""
    return (
        markup.notice("error", f"{failure.cause} (task: {failure.task})")
        + markup.notice("info", f"What to change: {failure.fix}")
        + (markup.scrolling("End of the failed task's log", tail, "wb-tail") if tail else "")
    )


def _log(run: Run) -> str:
    tail = run.log(LOG_LINES)
    if not tail:
        return markup.quiet("Nothing was logged yet.")
    return markup.scrolling(
        "End of the log", f'<pre class="wb-log">{markup.text(tail)}</pre>', "wb-tail"
    )
