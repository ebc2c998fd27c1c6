"""The form: the config that the person asks for, checked at each change."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from workbench import catalog
from workbench.config import RunConfig
from workbench.devices import DeviceError
from workbench.devices.child import located
from workbench.fields import LOCAL, NOT_TRAINED
from workbench.launchers.engine import RESTARTS
from workbench.plan import Plan, PlanError, Problem, make_plan
from workbench.plan.advice import advice
from workbench.plan.launching import is_local
from workbench.runs.folder.tasks import type_of
from workbench.runs.processes.bounds import Bounds
from workbench.widgets.parts import markup

from . import layout as form_layout
from .data_inspection import DataInspection
from .fields import UnreadableError
from .form_words import sentence
from .launcher_reach import LauncherReach
from .layout import CUSTOM
from .strategy_fields import StashedFields, fields_shown, row_of

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.devices import Devices

    from .notebook_function import NotebookFunction

OF_ONE_RUN = ("name", "archive", "start", "start_now")
"""Fields that a new run with the settings of another run does not take over."""
LOOKING = (
    "Inspecting your data: its function runs once in a separate process, to count the examples. "
    "Train is enabled when that is done."
)


@dataclass(frozen=True)
class FormState:
    """The config that the form asks for, and its plan or its problems.

    Without TensorFlow, or without files of the data, there are both a plan and problems. Then the
    planned run can be read and saved, but not started.
    """

    config: RunConfig
    plan: Plan | None
    problems: tuple[Problem, ...]
    keras: str = ""
    """The Keras package that would run the plan, with its version; empty if it is not known."""
    looking: bool = False
    """Whether the user's own data is being inspected. Before that there is no plan."""


class Form:
    """Controls for every field of `RunConfig`. Each change gives a new `state`.

    `functions` maps names of fields to functions of the notebook, which these fields offer.
    `runs_dir` is the folder of runs, which keeps the texts of functions of the notebook.
    """

    def __init__(
        self,
        config: RunConfig,
        devices: Devices,
        functions: Mapping[str, NotebookFunction] | None = None,
        runs_dir: str | Path | None = None,
    ) -> None:
        self._devices = devices
        self._changed: Callable[[FormState], None] = lambda state: None
        # The devices found come from another thread, possibly while a person makes changes.
        self._turn = threading.RLock()
        self._busy = True
        self.edited = False
        """Whether a person has changed a field."""
        self._refused: tuple[Problem, ...] = ()
        """The problems that were found after the newest plan was made."""
        self._last_good = config
        self._data = DataInspection(self._plan_again)
        self.parts = form_layout.make_fields(device_names(devices), functions, runs_dir)
        self._preset = form_layout.preset_box()
        self._aside = StashedFields(self.parts.all)
        self._reach = LauncherReach()
        self._show_fields(config, set())
        self.first = form_layout.first_fields(self._preset, self.parts)
        self._groups = form_layout.Groups(self.parts, self._reach.box)
        self.more = self._groups.all.box
        self.write(config)
        self._preset.observe(self._on_preset, "value")
        for field in self.parts.all:
            field.on_change(self._on_field)
        self.parts.batch.on_change(self._on_field)

    def on_change(self, changed: Callable[[FormState], None]) -> None:
        """Call `changed` with each new state."""
        self._changed = changed

    def use_devices(self, devices: Devices) -> None:
        """Plan with the devices that a newer inspection of the machine found."""
        with self._turn:
            self._devices = devices
            self.parts.devices.offer(device_names(devices))
            self._remark()
            self._replan()

    def show_refused(self, problems: Iterable[Problem]) -> None:
        """Show, next to their fields, the problems that only a start could find.

        They are shown until the next change.
        """
        with self._turn:
            self._busy = True
            try:
                self._refused += tuple(problems)
                self._show(replace(self.state, problems=self._refused))
            finally:
                self._busy = False

    def use_settings(self, config: RunConfig, *, unless_edited: bool = False) -> None:
        """Show a config, but keep the name, the archive and the start that the form has."""
        with self._turn:
            if not (unless_edited and self.edited):
                kept = {name: getattr(self._last_good, name) for name in OF_ONE_RUN}
                self.write(replace(config, **kept))

    def use_interpreter(self, interpreter: str) -> None:
        """Let runs train in another interpreter; all other fields stay as typed."""
        with self._turn:
            self.parts.named("interpreter")[0].write(interpreter)

    def refresh(self) -> None:
        """Plan again, because the file or function that a field names may have changed."""
        with self._turn:
            self._data.forget()
            self._replan()

    def write(self, config: RunConfig) -> None:
        """Show a config."""
        with self._turn:
            self._busy = True
            for field in self.parts.all:
                field.write(getattr(config, field.name))
            self.parts.batch.write(
                config.per_replica_batch_size,
                config.global_batch_size,
                synchronous=row_of(config.strategy).synchronous,
            )
            self._aside.begin(config.strategy, config.launcher)
            self._remark()
            self._last_good = config
            self._replan()

    def label_of(self, name: str) -> str:
        """Return the label of a config field in the form; its name if the form does not show it."""
        shown = (*self.parts.all, *self.parts.batch.fields)
        return next((field.label for field in shown if field.name == name), name)

    @property
    def reason(self) -> str:
        """Why Train is off, with the labels of the fields (HTML); an empty text if it is on."""
        if not self.state.problems:
            return LOOKING if self.state.looking else ""
        names = dict.fromkeys(self.label_of(problem.field) for problem in self.state.problems)
        return markup.text(f"Fix {', '.join(names)} to train.")

    def _plan_again(self) -> None:
        with self._turn:
            self._replan()

    def _on_field(self) -> None:
        with self._turn:
            if not self._busy:
                self.edited = True
                self._follow_strategy()
                self._replan()

    def _follow_strategy(self) -> None:
        self._busy = True
        try:
            strategy = self.parts.strategy.read()
            self._aside.follow(strategy, str(self.parts.named("launcher")[0].read()))
            self.parts.batch.follow(synchronous=row_of(strategy).synchronous)
            self._remark()
        finally:
            self._busy = False

    def _remark(self) -> None:
        """Mark the strategy TPU if this machine has no TPU and none elsewhere is named."""
        busy, self._busy = self._busy, True
        named = self.parts.named("tpu")[0].read() != LOCAL
        missing = not named and not self._devices.tpu_chips
        self.parts.strategy.remark({"tpu": "no TPU here"} if missing else {})
        self._busy = busy

    def _on_preset(self, change: Any) -> None:
        preset = catalog.PRESETS.get(change["new"])
        with self._turn:
            if preset and not self._busy:
                self.edited = True
                asked = self._last_good
                kept = {name: getattr(asked, name) for name in NOT_TRAINED}
                self.write(replace(preset.config, **kept))

    def _replan(self) -> None:
        self._refused = ()
        config, unread = self._read()
        looking = self._data.begin(config)
        plan, problems = None, [*unread, *self._data.problems(config)]
        try:
            plan = make_plan(config, self._devices, self._data.facts(config))
        except PlanError as error:
            reported = {problem.field for problem in problems} | ({"data"} if looking else set())
            problems += [p for p in error.problems if p.field not in reported]
        if unread:
            plan = None
        missing = _no_interpreter(config)
        if missing is not None:
            problems.append(missing)
        elif self._devices.tensorflow_version is None:
            problems.append(_no_tensorflow(self._devices))
        self._busy = True
        try:
            self.state = FormState(config, plan, tuple(problems), self._keras(plan), looking)
            self._show(self.state)
        finally:
            self._busy = False
        self._reach.follow(config)
        self._changed(self.state)

    def _keras(self, plan: Plan | None) -> str:
        if plan is None:
            return ""
        _, version = self._devices.keras(legacy=plan.legacy_keras)
        return f"{'tf-keras' if plan.legacy_keras else 'Keras'} {version}" if version else ""

    def _read(self) -> tuple[RunConfig, list[Problem]]:
        values: dict[str, Any] = {}
        problems = []
        for field in self.parts.all:
            try:
                values[field.name] = field.read()
            except UnreadableError as error:
                problems.append(Problem(field.name, error.rule, error.got, error.fix))
        batch = self.parts.batch
        try:
            values.update(batch.read())
        except UnreadableError as error:
            problems.append(Problem(batch.leader, error.rule, error.got, error.fix))
        config = replace(self._last_good, **values)
        self._last_good = config
        return config, problems

    def _show(self, state: FormState) -> None:
        by_field: dict[str, list[str]] = {}
        for problem in state.problems:
            by_field.setdefault(problem.field, []).append(sentence(problem, self.label_of))
        warnings = advice(state.plan, self._devices) if state.plan else {}
        for field in (*self.parts.all, *self.parts.batch.fields):
            field.show_problems(by_field.get(field.name, []), warnings.get(field.name, ""))
        self._show_fields(state.config, set(by_field))
        self._groups.mark(set(by_field))
        self._preset.value = _preset_of(state.config)
        if state.plan:
            self._show_plan(state.plan)
        else:
            self.parts.batch.show_no_plan()

    def _show_fields(self, config: RunConfig, wrong: set[str]) -> None:
        needed = fields_shown(config, self._devices)
        for field in self.parts.all:
            field.show(needed[field.name] or field.name in wrong)

    def _show_plan(self, plan: Plan) -> None:
        self.parts.batch.show_plan(
            plan.per_replica_batch_size,
            plan.global_batch_size,
            plan.num_replicas_in_sync,
            _arithmetic(plan),
        )
        hints = {
            "replicas": _replicas_hint(plan),
            "steps_per_epoch": f"{plan.steps_per_epoch:,}: all data once",
            "workers": f"{plan.workers}, automatic",
            "parameter_servers": f"{_servers(plan)}, automatic",
            "rendezvous_seconds": f"{Bounds().rendezvous_seconds:g}",
            "restarts": "never" if is_local(plan.config) else str(RESTARTS),
            "interpreter": plan.interpreter,
        }
        for field in self.parts.all:
            if field.name in hints:
                field.hint(hints[field.name])


def _no_interpreter(config: RunConfig) -> Problem | None:
    """Return the problem if this machine lacks the interpreter that is to train here."""
    if config.interpreter is None or not is_local(config):
        return None
    try:
        located(config.interpreter, os.environ)
    except DeviceError as error:
        return Problem("interpreter", "a Python program on this machine", error.got, error.fix)
    return None


def _no_tensorflow(devices: Devices) -> Problem:
    fix = "The top of the page shows how to get one. Or enter another Python."
    return Problem("interpreter", "a Python that can import TensorFlow", devices.interpreter, fix)


def _replicas_hint(plan: Plan) -> str:
    return "8 for a v3-8" if plan.on_tpu else f"{plan.num_replicas_in_sync}, automatic"


def _servers(plan: Plan) -> int:
    return sum(type_of(task) == "ps" for task in plan.tasks)


def _arithmetic(plan: Plan) -> str:
    if plan.synchronous:
        return plan.arithmetic
    _, _, rest = plan.arithmetic.partition("; ")
    return (
        f"{plan.per_replica_batch_size} examples per worker step; {rest}; the {plan.workers} "
        "workers share the steps of an epoch, each at its own pace"
    )


def device_names(devices: Devices) -> list[str]:
    """Return the devices that a config can name."""
    return ["CPU:0", *(gpu.name for gpu in devices.gpus)]


def _preset_of(config: RunConfig) -> str:
    """Return the name of the preset with these settings, or `CUSTOM` if there is none."""
    compared = [f.name for f in fields(RunConfig) if f.name not in NOT_TRAINED]
    for key, row in catalog.PRESETS.items():
        if all(getattr(config, name) == getattr(row.config, name) for name in compared):
            return key
    return CUSTOM
