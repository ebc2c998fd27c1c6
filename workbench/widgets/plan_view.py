"""The plan: all its numbers, the model's size, and a picture of the shards."""

from __future__ import annotations

import functools
import json
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as ipw

from workbench import catalog, units
from workbench.launchers import ENGINES
from workbench.plan import PlanError
from workbench.plan.launching import is_local, runs_on
from workbench.plan.placement import ON_ONE_DEVICE
from workbench.runs.folder.tasks import HOST, tf_configs
from workbench.widgets.kernel.background import ONE_TENSORFLOW, Latest, waiting
from workbench.widgets.parts import markup
from workbench.widgets.parts.copy_button import COPIED, CopyButton
from workbench.widgets.parts.fold import Fold
from workbench.widgets.parts.page_parts import column, html, set_visible, styled
from workbench.widgets.pictures import plan as picture

if TYPE_CHECKING:
    from workbench.plan import Plan, Problem
    from workbench.runs.programs.inspection import ModelSummary
    from workbench.widgets.form.form import FormState

SETTLE_SECONDS = 0.8
HELD_SECONDS = 60.0
JOB_DIR = Path("/RUNS/RUN/jobs/0001")
"""The folder of a job in its preview; only its start gives it one."""
LAST_BATCH = {
    "drop": "dropped",
    "keep": "in a shorter last batch",
    "repeat": "in a last batch filled from the next shuffle",
}


class PlanView:
    """A view that shows a plan immediately, and its model seconds later.

    The TensorFlow of the run's interpreter builds the model.
    """

    def __init__(self) -> None:
        self._numbers = html(description="Numbers of the plan")
        self._picture = html(description="Picture of the plan")
        self._model = html(description="Size of the model")
        self._batch = html(description="A replica's batch")
        self._layers = html(description="Layers of the model")
        self._folded = Fold("Layers", self._layers)
        self._configs = html(description="TF_CONFIG of each task")
        self._tasks = Fold("TF_CONFIG of each task", self._configs)
        self._job_text = html(description="Job")
        self._job = Fold("Job as submitted", styled(
            ipw.VBox, COPIED, children=[column(CopyButton()), self._job_text],
        ))  # fmt: skip
        self._inspecting: Latest[ModelSummary] = Latest(SETTLE_SECONDS)
        self._measured: tuple[Any, ...] | None = None
        self._plan: Plan | None = None
        self._refused: Callable[[Iterable[Problem]], None] = lambda problems: None
        self._problems: tuple[Problem, ...] = ()
        """The problems of the model that was measured last."""
        self._free = threading.Event()
        self._free.set()
        side = column(self._numbers, self._model)
        both = styled(ipw.Box, "wb-beside", children=[self._picture, side])
        title = html(markup.heading("Plan"), description="Section")
        parts = [title, both, self._batch, self._folded.box, self._tasks.box, self._job.box]
        self.box = styled(ipw.VBox, "wb-section", children=parts)

    def on_refused(self, refused: Callable[[Iterable[Problem]], None]) -> None:
        """Call `refused` with the problems of a model that cannot be built or trained.

        They are found in a background thread, and passed on again with each later plan that has
        the same model.
        """
        self._refused = refused

    def hold(self, held: bool) -> None:
        """While held, measure no model, so that a starting run has the machine for itself."""
        (self._free.clear if held else self._free.set)()

    def show(self, state: FormState) -> None:
        """Show the plan of a form's state, or a note that there is no plan yet."""
        plan = self._plan = state.plan
        for part in (self._picture, self._model, self._batch):
            set_visible(part, visible=plan is not None)
        self._folded.show(plan is not None)
        several = plan is not None and len(plan.tasks) > 1
        self._tasks.show(several)
        self._show_job(plan)
        if plan is None:
            message = "No plan while the form has problems; they are shown next to the fields."
            if state.looking and not state.problems:
                message = "No plan yet: the examples of your data are being counted."
            self._numbers.value = markup.notice("info", message)
            self._measured = None
            self._inspecting.forget()
            return
        note = markup.quiet(ON_ONE_DEVICE) if ON_ONE_DEVICE in plan.notes else ""
        self._batch.value = markup.quiet(plan.element_spec) + note
        self._numbers.value = markup.facts(_numbers(state, plan))
        self._picture.value = picture.draw(plan)
        (self._picture.add_class if picture.is_wide(plan) else self._picture.remove_class)(
            "wb-wide"
        )
        self._configs.value = _configs(plan) if several else ""
        if state.problems:
            self._leave_unmeasured()
        else:
            self._measure(plan)

    def _show_job(self, plan: Plan | None) -> None:
        text = _job(plan) if plan else ""
        self._job.show(bool(text))
        runs, run = JOB_DIR.parts[1:3]
        about = f"{runs} stands for the folder of runs, {run} for the folder of this run."
        shown = f'<pre class="wb-log">{markup.text(text)}</pre>'
        self._job_text.value = markup.quiet(about) + markup.scrolling("Job as submitted", shown)

    def _leave_unmeasured(self) -> None:
        """Measure no model, because without TensorFlow no model can be built."""
        self._measured = None
        self._inspecting.forget()
        self._model.value = markup.facts(
            [("Model", "measured once its interpreter has TensorFlow")]
        )
        self._layers.value = markup.quiet("unknown")

    def _measure(self, plan: Plan) -> None:
        key = _what_shapes_the_model(plan)
        if key == self._measured:
            if self._problems:
                self._refused(self._problems)
            return
        self._measured, self._problems = key, ()
        failed = functools.partial(self._show_failure, key)
        self._model.value = markup.facts([("Model", "measuring ...")])
        self._layers.value = markup.quiet("measuring ...")

        def work() -> ModelSummary:
            from workbench.runs.programs.inspection import inspect_model

            with waiting():
                self._free.wait(HELD_SECONDS)
                with ONE_TENSORFLOW:
                    return inspect_model(self._plan or plan)

        self._inspecting.ask(work, self._show_model, failed)

    def _show_model(self, summary: ModelSummary) -> None:
        self._model.value = markup.facts(_sizes(summary))
        self._layers.value = markup.table(
            "Layers of the model",
            ("Layer", "Type", "Output shape", "Parameters"),
            [(n, kind, str(shape), f"{count:,}") for n, kind, shape, count in summary.layers],
            numeric=(3,),
        )

    def _show_failure(self, key: tuple[Any, ...], error: Exception) -> None:
        self._model.value = markup.notice("error", f"The model could not be measured: {error}")
        self._layers.value = markup.quiet("unknown")
        if key != self._measured or not isinstance(error, PlanError):
            return
        # A process that could not run or was too slow is no problem of the model.
        if not isinstance(error.__cause__, OSError):
            self._problems = tuple(error.problems)
            self._refused(self._problems)


def _what_shapes_the_model(plan: Plan) -> tuple[Any, ...]:
    """Return the values that the model's size and its problems depend on.

    While they stay the same, the model is not measured again.
    """
    from workbench.runs.programs.inspection import changed

    size = (
        *(plan.model, plan.data, plan.interpreter, plan.keras, plan.per_replica_batch_size),
        *(plan.num_replicas_in_sync, plan.config.optimizer, plan.config.synthetic_features),
        plan.config.precision,
    )
    if plan.own_model is None:
        return size
    # A train_step of the model's own may not fit these fields.
    fields = (plan.loop, plan.own_step, plan.last_batch, plan.config.clip_norm, plan.config.xla)
    return (*size, *fields, plan.own_model, changed(plan.own_model), changed(plan.own_data))


def _configs(plan: Plan) -> str:
    """Return the TF_CONFIG of each task (HTML); only its start gives it ports, or also hosts."""
    local = is_local(plan.config)
    label = catalog.LAUNCHERS[plan.config.launcher].label
    host = HOST if local else f"<chosen by {label}>"
    addresses = dict.fromkeys(plan.tasks, f"{host}:<chosen at start>")
    rows = [
        (task, json.dumps(config)) for task, config in tf_configs(plan.tasks, addresses).items()
    ]
    what = "Ports" if local else "Hosts and ports"
    about = f"{what} are chosen when the run starts; each task's lane then shows its TF_CONFIG."
    return markup.quiet(about) + markup.table("TF_CONFIG of each task", ("Task", "TF_CONFIG"), rows)


def _job(plan: Plan) -> str:
    """Return the text that the plan's engine is given for the job; empty if there is none."""
    if is_local(plan.config):
        return ""
    return ENGINES[plan.config.launcher].preview(plan.config, plan.tasks, JOB_DIR)


def _numbers(state: FormState, plan: Plan) -> list[tuple[str, str]]:
    rows = [
        *_who_trains(plan),
        *([("Runs on", place)] if (place := runs_on(plan.config)) else []),
        ("Keras", state.keras or units.UNKNOWN),
        ("Examples", _examples(plan)),
        (
            "Steps per epoch",
            f"{plan.steps_per_epoch:,}{'' if plan.synchronous else ', of all workers'}",
        ),
        ("Total steps", f"{plan.total_steps:,}"),
        ("Learning rate", _learning_rate(plan)),
    ]
    if plan.leftover_examples:
        rows.append(("Last batch", _last_batch(plan)))
    return rows


def _examples(plan: Plan) -> str:
    train = f"{plan.num_train_examples:,}"
    tests = f" + {plan.num_test_examples:,} to test" if plan.is_tested else ", none to test on"
    return train + tests


def _learning_rate(plan: Plan) -> str:
    return "set by the optimizer" if plan.learning_rate is None else f"{plan.learning_rate:g}"


def _who_trains(plan: Plan) -> list[tuple[str, str]]:
    if len(plan.tasks) == 1:
        return [("Replicas", f"{plan.num_replicas_in_sync}{', virtual' * plan.virtual}")]
    shared = f", which share {', '.join(plan.physical_devices)}" if plan.virtual else ""
    return [("Trained by", f"{plan.who_trains}{shared}"), ("Tasks", ", ".join(plan.tasks))]


def _last_batch(plan: Plan) -> str:
    left = plan.leftover_examples
    return f"{left:,} example{'s' * (left != 1)} {LAST_BATCH[plan.last_batch]}"


def _sizes(summary: ModelSummary) -> list[tuple[str, str]]:
    trained = f", {summary.trainable_parameters:,} trained"
    same = summary.trainable_parameters == summary.parameters
    return [
        ("Parameters", f"{summary.parameters:,}{'' if same else trained}"),
        ("Per replica", f"{units.byte_size(summary.replica_bytes)} of weights and optimizer state"),
        ("Gradients summed per step", units.byte_size(summary.gradient_bytes_per_step)),
    ]
