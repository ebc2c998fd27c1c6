"""`Workbench()`: all views, joined. A view only changes a config and starts a run."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from workbench import catalog, charts
from workbench.config import RunConfig
from workbench.hosts import host_line
from workbench.runs.consent import foreign_settings
from workbench.runs.folder.files import RunError, runs_root
from workbench.runs.listing import living
from workbench.runs.programs.published import is_unsure
from workbench.widgets.form.form import Form, FormState
from workbench.widgets.form.notebook_function import NotebookFunction
from workbench.widgets.form.running_line import RunningLine
from workbench.widgets.form.train_button import TrainButton
from workbench.widgets.host_notes import HostNotes
from workbench.widgets.kernel import outputs
from workbench.widgets.kernel.background import Latest, run_in_background
from workbench.widgets.kernel.host import allow_own_widgets, on_cell_event
from workbench.widgets.kernel.page_order import keep_order
from workbench.widgets.parts.later import Later
from workbench.widgets.parts.page_parts import column
from workbench.widgets.run import saved_output
from workbench.widgets.run.closer_look import CloserLook
from workbench.widgets.run.export_view import ExportView
from workbench.widgets.run.following import Following
from workbench.widgets.run.predictions import Predictions
from workbench.widgets.run.verdict_view import WhySlow
from workbench.widgets.run.view import RunView
from workbench.widgets.run.xray_view import Xray
from workbench.widgets.runs.runs_list import RunsList
from workbench.widgets.script.opening import OpeningContext
from workbench.widgets.script.view import ScriptView

from .hardware import Hardware
from .page import Page, Places
from .plan_view import PlanView
from .scaling_view import ShouldScale

if TYPE_CHECKING:
    from workbench.devices import Devices
    from workbench.feed import RunFeed
    from workbench.plan import Problem
    from workbench.runs import Run, Summary
    from workbench.widgets.comparison.view import ComparisonView
    from workbench.widgets.search.finder import FinderView

    from .matrix_view import MatrixView

RUN = "Run"
"""The title of the tab with the opened run."""
FIRST_PRESETS = ("dense_fashion_mnist", "mlp_synthetic")
"""The form opens with the first of them whose data need no download."""
STARTING = "starting"


class Workbench:
    """The workbench in a notebook: hardware, form, plan, the run, earlier runs, the script.

    Args:
        config: the config that the form opens with. None: the config of the newest living run. If
            no run is alive: Fashion-MNIST if its files are on this machine, else synthetic data.
        runs_dir: the folder of runs; None: `$WORKBENCH_RUNS`, else `runs`.
        model: the user's own model: a function of the notebook, `module:function` or
            `file.py:function`. The text of a notebook's function goes into the script, with
            everything that the function uses. The function returns a compiled Keras model.
        data: the user's own data, in one of the same three forms. The function returns (train,
            test). Each is a pair (features, labels) of arrays or tables, a triple with sample
            weights, or features alone; or a tf.data.Dataset, keras.utils.PyDataset or generator.
            With nothing to test on, test is None.
        step: the user's own train step of the custom loop, in one of the same three forms. It
            takes the model, the features and the labels of a replica, and updates the weights. It
            returns the loss of each example or their mean. If accuracy must be known, it returns
            the outputs after the loss.

    The newest living run is opened immediately, with its complete history.

    Raises:
        ConfigError: the function uses things that cannot go into a script; the error names each
            of them and gives a fix.
        RunError: the folder of runs, which keeps the function's text, cannot be written.
    """

    newest: ClassVar[Callable[[], Workbench | None]] = lambda: None
    """A function that returns the newest workbench, or None if it no longer exists."""

    def __init__(
        self,
        config: RunConfig | None = None,
        runs_dir: str | Path | None = None,
        model: str | Callable[[], Any] | None = None,
        data: str | Callable[[], Any] | None = None,
        step: str | Callable[..., Any] | None = None,
    ) -> None:
        self._takes_config = config is None and not (model or data or step)
        """Whether the form opens with the config of the run that is alive."""
        config = config or _first_config()
        functions: dict[str, NotebookFunction] = {}
        addresses: dict[str, Any] = {}
        for field, own in (("model", model), ("data", data), ("step", step)):
            if callable(own):
                functions[field] = NotebookFunction(own, field, runs_dir)
                addresses[field] = functions[field].address()
            elif own is not None:
                addresses[field] = own
        config = replace(config, **addresses)
        self._saved = saved_output.SavedView(self._raise)
        self._hardware = Hardware(config.interpreter, host_line(runs_root(runs_dir)))
        self._plan = PlanView()
        self._train = TrainButton(runs_dir, lambda: self._hardware.devices)
        self._host_notes = HostNotes(runs_root(runs_dir))
        self._run = RunView()
        self._running = RunningLine(self._stop)
        self._runs = RunsList(runs_dir)
        self._form = Form(config, self._hardware.devices, functions, runs_dir)
        self._closer = self._make_closer_look()
        self._script = ScriptView(self._opening_context(), runs_dir)
        self._forget_cells = on_cell_event("post_run_cell", self._on_cell)
        self._runs_dir = runs_dir
        self._pages: dict[str, Later[ComparisonView] | Later[FinderView] | Later[MatrixView]] = {
            "Compare": Later(self._make_comparison, lambda view: view.look_again()),
            "Batch and rate": Later(self._make_finder),
            "Agreement": Later(self._make_matrix),
        }
        self._interpreter = config.interpreter
        self._rendering: Latest[None] = Latest(0.15)
        self._join()
        self._page = Page(self._places(), self._saved.token)
        self.widget = self._page.root
        self._keep_order()
        self._asked = self._form.state.config
        self._show_form(self._form.state)
        self._hardware.ask(config.interpreter)
        self._reattaching = run_in_background(self._runs.start, self._reattach, self._raise)
        Workbench.newest = weakref.ref(self)

    @property
    def config(self) -> RunConfig:
        """The config that the form shows now."""
        return self._form.state.config

    @property
    def run(self) -> Run | None:
        """The opened run; None if no run is open."""
        return self._run.run

    def open(self, run: Run) -> None:
        """Show a run, and follow it if it is alive."""
        self._plan.hold(run.status == STARTING)
        self._closer.show(None, "")
        self._run.open(run)
        self._script.show_run(run)
        self._runs.show_open(run)
        self._page.turn_to(RUN)

    def follow(self) -> Following:
        """Return an object that waits for the opened run: `await follow()` for this workbench."""
        self._reattaching.join()
        return Following(self._run.run, outputs.show, self._host_notes.note_following)

    def figure(self) -> Any:
        """Return a plotly figure of the opened run as it is now; None if no run is open."""
        run = self._run.run
        return None if run is None else run.figure()

    def close(self) -> None:
        """Stop following and close the view; runs go on."""
        self._forget_cells()
        self._hardware.close()
        self._closer.show(None, "")
        self._run.end()
        self._runs.close()
        for page in self._pages.values():
            if page.made is not None:
                page.made.close()
        self._hardware.environment.close()
        self._train.close()
        self.widget.close()

    def _ipython_display_(self) -> None:
        """Show the live view, and below it the output of a saved notebook without a kernel."""
        allow_own_widgets()
        outputs.show_bundle(saved_output.live_bundle(self.widget.model_id))
        self._saved.show()

    def _join(self) -> None:
        self._form.on_change(self._on_form)
        self._hardware.on_found(self._use_devices)
        self._hardware.environment.on_made(self._use_environment)
        self._train.on_started(self._on_started)
        self._train.on_refused(self._on_refused)
        self._train.on_show(self.open)
        self._script.on_note(self._train.show_edits)
        self._plan.on_refused(self._on_refused)
        self._run.on_wanted(self.open)
        self._run.actions.on_started(self._on_started)
        self._run.actions.on_deleted(self._on_deleted)
        self._run.actions.on_settings(self._form.use_settings)
        self._run.on_summary(self._on_summary)
        self._run.on_page(self._saved.send_again)
        self._runs.on_chosen(self._open_chosen)
        self._runs.on_settings(self._form.use_settings)

    def _make_closer_look(self) -> CloserLook:
        return CloserLook(
            {
                "X-ray of one step": Xray,
                "Why is it slow?": lambda: WhySlow(self._form.write, self._form.label_of),
                "Should I scale?": ShouldScale,
                "Predictions": Predictions,
                "Report and export": ExportView,
            }
        )

    def _make_comparison(self) -> ComparisonView:
        from workbench.widgets.comparison.view import ComparisonView

        return ComparisonView(
            self._runs_dir, lambda: self.config, lambda: self._hardware.devices, self.open
        )

    def _make_finder(self) -> FinderView:
        from workbench.widgets.search.finder import FinderView
        from workbench.widgets.search.view import SearchContext

        context = SearchContext(
            state=lambda: self._form.state,
            write=self._form.write,
            label_of=self._form.label_of,
            devices=lambda: self._hardware.devices,
        )
        finder = FinderView(context)
        keep_order(finder.box)
        return finder

    def _make_matrix(self) -> MatrixView:
        from .matrix_view import MatrixView

        return MatrixView(
            self._runs_dir, lambda: self._hardware.devices, lambda: self.config.interpreter
        )

    def _opening_context(self) -> OpeningContext:
        return OpeningContext(
            asked=lambda: self.config,
            write=self._form.write,
            devices=lambda: self._hardware.devices,
            started=self._on_started,
        )

    def _places(self) -> Places:
        return Places(
            hardware=self._hardware.box,
            bar=[self._form.first, self._train.buttons, self._running.box],
            below=[self._train.messages, self._host_notes.box, self._form.more],
            tabs={
                "Plan": self._plan.box,
                RUN: column(self._run.box, self._closer.box),
                "Runs": self._runs.box,
                "Compare": self._pages["Compare"],
                "Batch and rate": self._pages["Batch and rate"],
                "Script": self._script.box,
                "Agreement": self._pages["Agreement"],
            },
        )

    def _keep_order(self) -> None:
        for box in (self._form.first, self._form.more, self._train.buttons, self._train.messages):
            keep_order(box)

    def _stop(self) -> None:
        if self.run is not None:
            self._run.actions.act(self.run, "stop")

    def _use_devices(self, devices: Devices) -> None:
        self._form.use_devices(devices)
        self._keep_order()  # new devices have new checkboxes

    def _use_environment(self, interpreter: str) -> None:
        made_again = interpreter == self._interpreter
        self._form.use_interpreter(interpreter)
        if made_again:
            self._hardware.ask(interpreter)

    def _on_cell(self, _: Any = None) -> None:
        if self._form.parts.use_notebook:
            self._form.refresh()

    def _on_form(self, state: FormState) -> None:
        edited = state.config != self._asked
        self._asked = state.config
        self._show_form(state)
        if edited:
            self._train.edited(state.config)

    def _show_form(self, state: FormState) -> None:
        self._train.show_form(state, self._form.reason)
        if state.problems:
            self._page.unfold()
        self._plan.show(state)
        self._rendering.ask(lambda: self._script.show_plan(state.plan), lambda _: None, self._raise)
        if state.config.interpreter != self._interpreter:
            self._interpreter = state.config.interpreter
            self._hardware.ask(self._interpreter)

    def _on_refused(self, problems: Iterable[Problem]) -> None:
        self._page.unfold()
        self._form.show_refused(problems)

    def _on_started(self, run: Run) -> None:
        self._train.clear()
        if self._run.run is None or self._run.run.id != run.id:
            self._runs.reload()
        self._page.show_alive(True)  # first: the settings that fold away move the run
        self._open_chosen(run)

    def _open_chosen(self, run: Run) -> None:
        self.open(run)
        self._run.reveal()

    def _on_deleted(self, run: Run) -> None:
        self._run.close()
        self._host_notes.show(None)
        self._plan.hold(False)
        self._closer.show(None, "")
        self._script.show_run(None)
        self._runs.show_open(None)
        self._running.show(None)
        self._page.show_alive(False)
        self._page.unfold()
        self._saved.forget()

    def _on_summary(self, summary: Summary, feed: RunFeed) -> None:
        self._plan.hold(summary.status == STARTING)
        self._host_notes.show(summary)
        self._running.show(summary)
        self._page.show_alive(summary.alive)
        self._closer.show(feed.run, summary.status)
        self._saved.follow(summary, feed)

    def _reattach(self, runs: list[Run]) -> None:
        if self._run.run is None:
            run = next(living(runs), None)
            if run is not None:
                self.open(run)
                if self._takes_config:
                    with contextlib.suppress(RunError):  # the run view shows it
                        if foreign_settings(run.dir) is None:
                            self._form.use_settings(run.config, unless_edited=True)
        charts.warm_up()

    def _raise(self, error: Exception) -> None:
        raise error


def _first_config() -> RunConfig:
    configs = (catalog.PRESETS[name].config for name in FIRST_PRESETS)
    return next(config for config in configs if not is_unsure(config))


def follow() -> Following:
    """Return an object that waits for the run of the newest workbench: `await follow()`."""
    workbench = Workbench.newest()
    return Following(None, outputs.show) if workbench is None else workbench.follow()
