"""The parts of a plan's model, found by a process of the run's interpreter."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.codegen import render_model
from workbench.plan import PlanError, Problem
from workbench.plan.batches import split
from workbench.plan.own_function import module_file
from workbench.plan.problems import Findings
from workbench.runs.folder.files import SCRIPT, sha256
from workbench.runs.processes.environment import Launch
from workbench.runs.processes.own_modules import module_folders
from workbench.runs.supervise.diagnosis import OTHER_FIX, known_reason, refusal_in
from workbench.runs.supervise.user_code import line_in_user_code, own_texts

from .child import ON_CPU, Work, run_to_end
from .run import program

if TYPE_CHECKING:
    from workbench.plan import Plan
    from workbench.plan.plan import OwnFunction

PROGRAM = "inspect_model"
TIMEOUT_SECONDS = 300.0
ENDED = "it ended the process that called it"
MODEL_RULE = "a function that builds a compiled Keras model in the run's interpreter"
DATA_RULE = "a function that can be called in the run's interpreter"
EXAMPLES_RULE = "examples that can be read in the run's interpreter"
FIX_OWN = "Fix this error in your code."
_IN_DATA = re.compile(r"^  File .*, in check_data$", re.MULTILINE)
"""A frame of the function that calls the user's function for data."""
_IN_EXAMPLES = re.compile(
    r'^  File ".*[/\\]check_model\.py", line \d+, in first_(?:example|labels)$', re.MULTILINE
)
"""A frame of a function that reads examples of a tf.data.Dataset."""


@dataclass(frozen=True)
class ModelSummary:
    """Layers, counts of parameters, and bytes on each replica."""

    layers: tuple[tuple[str, str, str, int], ...]
    """Name, type, output shape without the batch, parameters."""
    parameters: int
    trainable_parameters: int
    weight_bytes: int
    optimizer_bytes: int
    gradient_bytes_per_step: int
    """Bytes that each replica contributes to the sum over replicas in a step."""
    own_train_step: bool
    """Whether the model's class has another `train_step` than `tf.keras.Model`."""

    @property
    def replica_bytes(self) -> int:
        """Weights and optimizer state on each replica; activations are not counted."""
        return self.weight_bytes + self.optimizer_bytes


def inspect_model(plan: Plan, timeout_seconds: float = TIMEOUT_SECONDS) -> ModelSummary:
    """Build the plan's model in a process of the run's interpreter and return its summary.

    A model of the user is also checked: whether replicas can train it on the data. This takes some
    seconds the first time; then the summary is kept, also for plans with the same model and data
    but another strategy, loop or batch. A model is built again after its file, or that of its
    data, has changed.

    Raises:
        PlanError: the model cannot be built or trained, or not in time (the problem's field is
            `model`); the data cannot be read (`data`); or a field asks for what the model's own
            `train_step` cannot do.
    """
    text, own, here = render_model(plan), plan.own_model, Path.cwd()
    launch = Launch(plan.interpreter, here, module_folders(plan, here), plan.legacy_keras)
    start = plan.config.start
    texts = tuple(own_texts(plan).items())
    function, files = own.function if own else "", (changed(own), changed(plan.own_data))
    summary = _inspect(_Question(text, function, files, launch, texts, start, timeout_seconds))
    # A train step of the user takes the place of the model's own.
    if summary.own_train_step and plan.own_step is None:
        _check_own_train_step(plan)
    return summary


@dataclass(frozen=True)
class _Question:
    """A question; equal questions have equal answers, whatever the start and the timeout."""

    text: str
    """The functions of the plan's model and data, and the constants that they need."""
    function: str
    """The name of the user's function that returns the model; empty for a built-in model."""
    changed: tuple[str, str]
    """The state of the files of an imported model and data, because they are not in the text."""
    launch: Launch
    texts: tuple[tuple[str, str], ...]
    """The user's files in the text, each with its own text."""
    start: str = field(compare=False)
    timeout_seconds: float = field(compare=False)


@lru_cache(maxsize=32)
def _inspect(asked: _Question) -> ModelSummary:
    with tempfile.TemporaryDirectory(prefix="workbench-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / SCRIPT
        path.write_text(asked.text, encoding="utf-8")
        command = program(PROGRAM, str(path), *filter(None, [asked.function]))
        work = Work(asked.launch, command, ON_CPU, start=asked.start)
        try:
            ended = run_to_end(work, asked.timeout_seconds)
        except OSError as error:  # or a TimeoutError
            raise _problem(asked, str(error)) from error
    message = ended.message
    if ended.exit_status != 0 or not ended.answers:
        got = message if ended.exit_status else ENDED
        raise _refused(message) or _problem(asked, got, ended.log)
    values = ended.answers[-1]
    return ModelSummary(**{**values, "layers": tuple(map(tuple, values["layers"]))})


def changed(own: OwnFunction | None) -> str:
    """Return what changes when the file of an imported function does; else an empty text."""
    if own is None or own.module is None:
        return ""
    if own.source is not None:
        return sha256(own.source)
    file = module_file(own.module)
    return "" if file is None else f"{file} {file.stat().st_mtime_ns}"


def _check_own_train_step(plan: Plan) -> None:
    """Raise the problems of fields that ask for what a model's own train_step cannot do."""
    findings, config = Findings(), plan.config
    if config.clip_norm is not None:
        rule = "empty with a model that has its own train_step, which applies its gradients itself"
        fix = "Clip in the train_step, or leave clip_norm empty."
        findings.add("clip_norm", rule, config.clip_norm, fix)
    if config.xla:
        rule = (
            "off with a model that has its own train_step, because XLA can compile only steps "
            "whose update the script does itself"
        )
        fix = (
            "Turn xla off and put @tf.function(jit_compile=True) on the function that computes "
            "the step's gradient."
        )
        findings.add("xla", rule, True, fix)
    shares = split(plan.leftover_examples, plan.num_replicas_in_sync)
    if plan.loop == "custom" and plan.last_batch == "keep" and len(set(shares)) > 1:
        rule = (
            "drop or repeat with a model that has its own train_step if the replicas get unequal "
            "parts of the last batch, because such a step gives each part the same weight"
        )
        pieces = ", ".join(map(str, shares))
        got = f"keep with {plan.leftover_examples} examples left, split into {pieces}"
        findings.add("last_batch", rule, got, "Choose drop or repeat, or another batch size.")
    if findings.problems:
        raise PlanError(findings.problems)


def _refused(line: str) -> PlanError | None:
    """Return the refusal of model or data; None if it is another error."""
    refusal = refusal_in(line)
    if refusal is None:
        return None
    of_model = re.match(r"a model|a tf\.keras\.Model|losses that|a loss ", refusal.rule)
    return PlanError((Problem("model" if of_model else "data", *refusal),))


def _problem(asked: _Question, got: str, log: str = "") -> PlanError:
    """Return the problem of the function that failed: the model's, or the data's that it calls."""
    if _IN_EXAMPLES.search(log):
        field, rule, call = "data", EXAMPLES_RULE, "Read the first by itself in that interpreter"
    else:
        of_data = _IN_DATA.search(log) is not None
        field, rule = ("data", DATA_RULE) if of_data else ("model", MODEL_RULE)
        call = "Call it by itself in that interpreter"
    place = line_in_user_code(log, dict(asked.texts))
    _, fix = known_reason(got, asked.launch.interpreter)
    if fix == OTHER_FIX:
        fix = FIX_OWN if place else f"{call} and fix its error."
    return PlanError((Problem(field, rule, f"{got} ({place})" if place else got, fix),))
