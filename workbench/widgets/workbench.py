"""`Workbench()`: the views, joined. A view changes a config and starts a run; no more."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as ipw

from workbench import catalog, charts
from workbench.config import RunConfig

from . import markup, outputs, snapshot
from .background import Latest, run_in_background
from .follow import Following
from .form import Form, FormState, problems_text
from .hardware import Hardware
from .host import heed
from .matrix_view import MatrixView
from .notebook_function import NotebookFunction
from .page_order import keep_order
from .plan_view import PlanView
from .predictions import Predictions
from .run_view import RunView
from .runs_list import RunsList
from .script_view import ScriptView
from .train_button import TrainButton
from .xray_view import Xray

if TYPE_CHECKING:
    from workbench.devices import Devices
    from workbench.feed import Look, RunFeed
    from workbench.runs import Run

STYLE = Path(__file__).with_name("workbench.css")
FIRST_PRESET = "mlp_synthetic"
STARTING = "starting"


class Workbench:
    """The workbench in a notebook: hardware, form, plan, the run, earlier runs, the script.

    Args:
        config: what the form opens with; None: the first lesson on every GPU, or on two virtual
            replicas where there are fewer than two.
        runs_dir: the folder of runs; None: `$WORKBENCH_RUNS`, else `runs`.
        model: one's own model: a function of the notebook, whose text goes into the script with
            all that it uses, or `module:function` or `file.py:function`.

    The newest run that lives is opened at once, with its whole history.

    Raises:
        ConfigError: the function uses what cannot go into a script; each is named with what to do.
        RunError: the folder of runs, where the function's text is kept, cannot be written.
    """

    def __init__(
        self,
        config: RunConfig | None = None,
        runs_dir: str | Path | None = None,
        model: str | Callable[[], Any] | None = None,
    ) -> None:
        config = config or catalog.PRESETS[FIRST_PRESET].config
        function = None
        if callable(model):
            function = NotebookFunction(model, "model", runs_dir)
            config = replace(config, model=function.address())
        elif model is not None:
            config = replace(config, model=model)
        self._token = secrets.token_hex(4)
        self._display_id = f"workbench-{self._token}"
        self._shown = False
        self._saved_at = 0.0
        self._saving: Latest[None] = Latest()
        self._hardware = Hardware(config.interpreter)
        self._plan, self._script = PlanView(), ScriptView()
        self._train = TrainButton(runs_dir, lambda: self._hardware.devices)
        self._run, self._xray, self._predictions = RunView(), Xray(), Predictions()
        self._runs = RunsList(runs_dir)
        self._form = Form(config, self._hardware.devices, function)
        self._forget_cells = heed("post_run_cell", self._on_cell) if function else lambda: None
        self._matrix = MatrixView(
            runs_dir, lambda: self._hardware.devices, lambda: self.config.interpreter
        )
        self._interpreter = config.interpreter
        self._rendering: Latest[None] = Latest(0.15)
        self._join()
        self.widget = self._lay_out()
        keep_order(self._train.box)
        keep_order(self._form.box)
        self._asked = self._form.state.config
        self._show_form(self._form.state)
        self._hardware.ask(config.interpreter)
        self._reattaching = run_in_background(self._runs.start, self._reattach, self._ignore)

    @property
    def config(self) -> RunConfig:
        """What the form asks for now."""
        return self._form.state.config

    @property
    def run(self) -> Run | None:
        """The opened run."""
        return self._run.run

    def open(self, run: Run) -> None:
        """Show a run and follow it if it lives."""
        self._plan.hold(run.status == STARTING)
        self._xray.show(None, "")
        self._predictions.show(None, "")
        self._run.open(run)
        self._script.show_run(run)
        self._runs.show_open(run)

    def follow(self) -> Following:
        """Return what waits for the opened run: `await workbench.follow()`."""
        self._reattaching.join()
        return Following(self._run.run, outputs.show)

    def figure(self) -> Any:
        """Return a plotly figure of the opened run as it is now; None where none is open."""
        run = self._run.run
        return None if run is None else run.figure()

    def close(self) -> None:
        """Stop following and take the view down; runs go on."""
        self._forget_cells()
        self._run.end()
        self._runs.close()
        self._matrix.close()
        self._train.close()
        self.widget.close()

    def _ipython_display_(self) -> None:
        """Show the live view, and below it what a saved notebook shows without a kernel."""
        self._shown = True
        outputs.show_bundle(snapshot.live_bundle(self.widget.model_id))
        outputs.show_bundle(snapshot.saved_bundle(self._token), self._display_id)

    def _join(self) -> None:
        self._form.on_change(self._on_form)
        self._hardware.on_found(self._use_devices)
        self._train.on_started(self._on_started)
        self._run.actions.on_started(self._on_started)
        self._run.actions.on_deleted(self._on_deleted)
        self._run.on_look(self._on_look)
        self._runs.on_chosen(self.open)

    def _lay_out(self) -> Any:
        style = f"<style>{STYLE.read_text(encoding='utf-8')}</style>"
        head = ipw.HTML(
            f"{style}{snapshot.hiding_style(self._token)}{markup.heading('Workbench', 1)}"
            + markup.quiet("Distributed TensorFlow training: plan, run, watch, export."),
            description="Workbench",
        )
        head.add_class("wb-lead")
        run_title = ipw.HTML(markup.heading("Run"), description="Section")
        run_box = ipw.VBox([run_title, self._train.box, self._run.box])
        run_box.add_class("wb-section")
        of_run = [run_box, self._xray.box, self._predictions.box]
        root = ipw.VBox([head, self._hardware.box, self._form.box, *of_run, self._tabs()])
        root.add_class("wb-root")
        root.add_class(f"wb-live-{self._token}")
        return root

    def _tabs(self) -> Any:
        pages = {
            "Plan": self._plan.box,
            "Script": self._script.box,
            "Do they agree?": self._matrix.box,
            "Earlier runs": self._runs.box,
        }
        tabs = ipw.Tab(children=list(pages.values()), selected_index=0)
        for number, title in enumerate(pages):
            tabs.set_title(number, title)
        tabs.add_class("wb-tabs")
        return tabs

    def _use_devices(self, devices: Devices) -> None:
        self._form.use_devices(devices)
        keep_order(self._form.box)  # of new devices' checkboxes too

    def _on_cell(self, _: Any = None) -> None:
        self._form.refresh()

    def _on_form(self, state: FormState) -> None:
        edited = state.config != self._asked
        self._asked = state.config
        self._show_form(state)
        if edited:
            self._train.edited(state.config.interpreter)

    def _show_form(self, state: FormState) -> None:
        self._train.show_form(state, problems_text(state, self._form.parts))
        self._plan.show(state)
        self._rendering.ask(
            lambda: self._script.show_plan(state.plan), lambda _: None, self._ignore
        )
        if state.config.interpreter != self._interpreter:
            self._interpreter = state.config.interpreter
            self._hardware.ask(self._interpreter)

    def _on_started(self, run: Run) -> None:
        if self._run.run is None or self._run.run.id != run.id:
            self._runs.reload()
        self.open(run)

    def _on_deleted(self, run: Run) -> None:
        self._run.close()
        self._plan.hold(False)
        self._xray.show(None, "")
        self._predictions.show(None, "")
        self._script.show_run(None)
        self._runs.show_open(None)

    def _on_look(self, look: Look, feed: RunFeed) -> None:
        self._plan.hold(look.status == STARTING)
        self._xray.show(look.run, look.status)
        self._predictions.show(look.run, look.status)
        over = not look.alive
        if over or time.monotonic() - self._saved_at > snapshot.EVERY_SECONDS:
            self._saved_at = time.monotonic()
            self._saving.ask(lambda: self._save(look, feed), lambda _: None, self._ignore)

    def _save(self, look: Look, feed: RunFeed) -> None:
        """Put the picture of now into the notebook's own file."""
        if self._shown:
            outputs.update_bundle(snapshot.saved_bundle(self._token, look, feed), self._display_id)

    def _reattach(self, runs: list[Run]) -> None:
        if self._run.run is None:
            alive = [run for run in runs if run.status in markup.LIVE_STATES]
            if alive:
                self.open(alive[0])
        charts.warm_up()

    def _ignore(self, error: Exception) -> None:
        raise error
