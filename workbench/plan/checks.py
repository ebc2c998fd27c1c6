"""Checks of single fields, and of fields that must fit together."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .. import catalog
from ..config import USUAL, Problem, RunConfig, did_you_mean
from ..fields import FIELDS, is_own
from .own_function import last_share, read_own_function
from .plan import ARRAYS, OwnFunction
from .problems import Findings
from .sharding import check_sharding

if TYPE_CHECKING:
    from ..catalog import Strategy
    from .batches import Epoch
    from .placement import Placement
    from .plan import DataFacts

_LOOKED_UP_APART = ("strategy", "data", "model")
"""Fields that other functions look up, because they need the row of the catalogue."""
EPOCH = "epoch"
MOST_STEPS = 2**31 - 1
"""A graph counts the steps of a call in 32 bits."""
LONGEST_NAME = 200
OWN_STEP_KEEPS = (
    "Your train step averages the loss over each replica's own examples. In the short last batch "
    "of an epoch, a replica with fewer examples therefore counts as much as the others."
)
_GPU_MEMORY = ("growth", "all")
_XLA_OFF = "Turn xla off"


def check_name(findings: Findings, name: str) -> None:
    """Note a name that is too long for a line of a list."""
    if len(name) > LONGEST_NAME:
        rule, got = f"at most {LONGEST_NAME} characters", f"{len(name):,} characters"
        findings.add("name", rule, got, "Give it a shorter name.")


def wrong_by_itself(config: RunConfig) -> list[Problem]:
    """Return the problems of values that no machine could run, whatever the other fields are."""
    findings = Findings()
    findings.known("strategy", config.strategy, catalog.STRATEGIES)
    check_fields(findings, config)
    return findings.problems


def check_fields(findings: Findings, config: RunConfig) -> None:
    """Note every field whose value is wrong by itself."""
    for name, table in catalog.CHOICES.items():
        value = getattr(config, name)
        if name not in _LOOKED_UP_APART and value is not None:
            findings.known(name, value, table)
    check_name(findings, config.name)
    if (config.steps_per_epoch or 0) > MOST_STEPS:
        fix = "Set it to less, and epochs to more."
        findings.add("steps_per_epoch", f"at most {MOST_STEPS:,}", config.steps_per_epoch, fix)
    for name, row in FIELDS.items():
        value = getattr(config, name)
        if value is None or not row.counts(config):
            continue
        if row.above_zero is not None:
            findings.positive(name, value, row.above_zero)
        if row.range and not row.range.holds(value):
            findings.add(name, row.range.rule, value, row.range.fix)
    if config.clip_norm is not None and config.precision == "mixed_float16":
        rule = "empty with mixed_float16, whose gradients are scaled"
        findings.add("clip_norm", rule, config.clip_norm, "Leave it empty, or choose float32.")
    if config.clip_norm is not None and config.loop == "fit":
        fix = "Choose the loop custom, or leave clip_norm empty."
        rule = "empty with Keras fit, which would clip each replica's gradient before the sum"
        findings.add("clip_norm", rule, config.clip_norm, fix)
    _check_gpu_memory(findings, config.gpu_memory)
    _check_call(findings, config.steps_per_call)


def _check_call(findings: Findings, steps: int | str | None) -> None:
    if isinstance(steps, int):
        findings.positive("steps_per_call", steps, 1)
    elif steps not in (None, EPOCH):
        rule = f"a whole number above 0, {EPOCH}, or empty"
        findings.add("steps_per_call", rule, steps, "Leave it empty.")


def find_step(findings: Findings, config: RunConfig) -> OwnFunction | None:
    """Return the user's own train step, or note why it cannot be used."""
    if config.step is None:
        return None
    if config.loop != "custom":
        rule = "empty with Keras fit, which uses the model's own train_step"
        fix = "Choose the loop custom; or leave step empty, and give the model a train_step."
        findings.add("step", rule, config.step, fix)
    if config.clip_norm is not None:
        rule = "empty with a train step of your own, which applies its gradients itself"
        findings.add("clip_norm", rule, config.clip_norm, "Clip in your step, or leave it empty.")
    return read_own_function(findings, "step", config.step)


def plan_optimizer(findings: Findings, config: RunConfig, *, own_model: bool) -> str:
    """Return the optimizer's name in the catalogue, and note fields that do not fit it."""
    name = config.optimizer or (catalog.COMPILED if own_model else "adam")
    if name != catalog.COMPILED:
        return name
    if not own_model:
        rule = "adam, sgd or momentum with a built-in model"
        findings.add("optimizer", rule, name, "Choose adam, or a model of your own.")
    for field in ("learning_rate", "learning_rate_scaling"):
        value, usual = getattr(config, field), getattr(USUAL, field)
        if value != usual:
            rule = f"{usual}, the default, with the optimizer that your model is compiled with"
            fix = "Set it where your function compiles the model, or choose an optimizer here."
            findings.add(field, rule, value, fix)
    return name


def check_together(
    findings: Findings, config: RunConfig, placement: Placement, data: catalog.Data | None
) -> None:
    """Note fields that do not fit the placement of the replicas."""
    if config.precision == "mixed_float16" and placement.kind == "CPU":
        fix = "Choose mixed_bfloat16, or float32."
        rule = "float32, float64 or mixed_bfloat16 on a CPU: mixed_float16 takes minutes per step"
        findings.add("precision", rule, config.precision, fix)
    if placement.workers > 1 and config.last_batch == "keep" and config.pipeline == "usual":
        rule = "drop or repeat with several workers, which need batches of equal size"
        findings.add("last_batch", rule, "keep", "Choose drop or repeat.")
    if not placement.synchronous:
        _check_asynchronous(findings, config)
    if not is_own(config.data):
        if config.pipeline == "cached" and placement.synchronous:
            rule = "usual, indexed, files or numpy with built-in data, which is already in memory"
            findings.add("pipeline", rule, config.pipeline, "Choose usual, or indexed.")
        train = (data and data.train_examples) or config.synthetic_examples
        check_sharding(findings, config, placement.workers_in_step, train)


def check_static(
    findings: Findings, config: RunConfig, replicas: int, epoch: Epoch, facts: DataFacts | None
) -> None:
    """Note fields that would give a TPU batches of different sizes."""
    if epoch.last_batch == "keep":
        rule = "drop or repeat on a TPU, which compiles for one batch size"
        findings.add("last_batch", rule, "keep", "Choose drop or repeat.")
    if not epoch.test_examples % replicas:
        return
    if config.data == "synthetic":
        rule = (
            f"a multiple of {5 * replicas}, because a fifth are test examples, and a TPU needs as "
            f"many of them in each of its {replicas} replicas"
        )
        fix = f"Set it to {max(1, config.synthetic_examples // (5 * replicas)) * 5 * replicas}."
        findings.add("synthetic_examples", rule, config.synthetic_examples, fix)
        return
    if not is_own(config.data):
        fix = "Choose synthetic, or a TPU whose number of cores divides that."
    elif epoch.test_examples < replicas:
        fix = f"Return {replicas} or more of them."
    else:
        fitting = epoch.test_examples // replicas * replicas
        fix = f"Return {fitting:,} of them, or choose a TPU whose number of cores divides that."
    is_divided = facts is not None and facts.kind == ARRAYS and not facts.test_examples
    if is_divided and (share := _fitting_share(epoch, replicas)) is not None:
        rule = f"a share whose test examples divide by the {replicas} replicas of a TPU"
        got = f"{config.validation_split}, which gives {epoch.test_examples:,}"
        findings.add("validation_split", rule, got, f"Set it to {share}.")
        return
    rule = f"a data set whose number of test examples is a multiple of the {replicas} replicas"
    got = f"{config.data}, which has {epoch.test_examples:,}"
    findings.add("data", rule, got, fix)


def _fitting_share(epoch: Epoch, replicas: int) -> float | None:
    """Return a short share of the examples that gives each replica as many to test on.

    It is near the one that the epoch has. None: no share does.
    """
    examples, allowed = epoch.train_examples + epoch.test_examples, FIELDS["validation_split"].range
    nearest = max(1, round(epoch.test_examples / replicas))
    for fitting in (replicas * (nearest + more) for more in (0, 1, -1)):
        for digits in range(2, 10):
            share = round(fitting / examples, digits)
            if allowed and allowed.holds(share) and last_share(examples, share) == fitting:
                return share
    return None


def _check_asynchronous(findings: Findings, config: RunConfig) -> None:
    why = "because workers train asynchronously"
    for name, value, rule, fix in (
        ("global_batch_size", config.global_batch_size, f"empty, {why}", "Set"
         " per_replica_batch_size, which is the batch size of each worker."),
        ("clip_norm", config.clip_norm, f"empty, {why} and no gradient is summed",
         "Leave it empty."),
    ):  # fmt: skip
        if value is not None:
            findings.add(name, rule, value, fix)
    if config.pipeline in ("files", "numpy", "cached"):
        rule = "usual or indexed with asynchronous workers, which share no batches"
        findings.add("pipeline", rule, config.pipeline, "Choose usual.")
    if config.eager:
        findings.add(
            "eager", "off, because workers run graphs", True, "Choose another strategy to debug."
        )


def check_data_folder(findings: Findings, config: RunConfig, data: catalog.Data | None) -> None:
    """Note a data folder that is missing or unreadable, or that lacks files of the data set."""
    if config.data_dir is None or data is None or not data.files:
        return
    try:
        folder = Path(config.data_dir).expanduser()
        there = folder.is_dir()
        missing = [name for name in data.files if not (folder / name).is_file()]
    except (OSError, ValueError, RuntimeError) as error:
        fix = f"Fix the path: {str(error).rstrip('.')}."
        findings.add("data_dir", "a folder that can be read", config.data_dir, fix)
        return
    if not there:
        fix = "Fix the path, or leave it empty to use the usual folders."
        findings.add("data_dir", "a folder that exists", config.data_dir, fix)
    elif missing:
        rule = f"a folder with {', '.join(data.files)}"
        fix = f"Put the missing files into {folder}, or leave data_dir empty."
        findings.add("data_dir", rule, f"no {', '.join(missing)}", fix)


def find_model(findings: Findings, config: RunConfig, name: str) -> OwnFunction | None:
    """Return the user's own model function, or note why there is no model.

    A model of the catalogue gives None.
    """
    if is_own(name):
        return read_own_function(findings, "model", name)
    if is_own(config.data):
        rule = "your own function, because the data is your own"
        findings.add("model", rule, name or None, "Name it, such as my_models.py:build_model.")
        return None
    row = findings.known("model", name, catalog.MODELS) if name else None
    if row is not None and config.data in catalog.DATA and config.data not in row.data:
        fitting = [key for key, model in catalog.MODELS.items() if config.data in model.data]
        rule = f"a model for {config.data}: {', '.join(fitting)}, or one of your own"
        findings.add("model", rule, name, f"Choose {fitting[0]}.")
    return None


def _check_gpu_memory(findings: Findings, memory: str | int) -> None:
    if memory in _GPU_MEMORY or (isinstance(memory, int) and memory > 0):
        return
    fix = "Set it to growth."
    if isinstance(memory, str):
        fix = did_you_mean(memory, _GPU_MEMORY, fix)
    findings.add("gpu_memory", "growth, all, or MiB above 0", memory, fix)


def check_xla(
    findings: Findings, config: RunConfig, strategy: Strategy, placement: Placement
) -> None:
    """Note fields that prevent XLA from compiling the step of a replica."""
    if not config.xla:
        return
    if config.eager:
        rule = "off with eager, which runs without graphs"
        findings.add("xla", rule, True, "Turn xla or eager off.")
    if placement.kind == "GPU" and sys.platform == "darwin":
        rule = "off on a Mac's GPU, for which TensorFlow has no XLA"
        findings.add("xla", rule, True, f"{_XLA_OFF}, or choose the device CPU:0.")
    _check_sums(findings, config, several=strategy.mirrors or strategy.workers)


def _check_sums(findings: Findings, config: RunConfig, *, several: bool) -> None:
    """Note a step that waits for the other replicas before its update."""
    why = "because XLA cannot compile code that waits for other replicas"
    if config.step is not None:
        if not several:
            return
        rule = f"off with a train step of your own and several replicas, {why}, as its update does"
        fix = (
            f"{_XLA_OFF} and put @tf.function(jit_compile=True) on the function that computes "
            "your step's gradient, or choose the strategy one_device."
        )
        findings.add("xla", rule, True, fix)
        return
    if not is_own(config.model or ""):
        return  # of a built-in model, only the forward pass and its gradient are compiled
    if config.loop == "custom" and config.clip_norm is not None:
        rule = f"off with clip_norm and your own model, {why}, as the norm of the sum does"
        findings.add("xla", rule, True, f"{_XLA_OFF}, or leave clip_norm empty.")
    elif config.last_batch == "keep":
        rule = f"off with last_batch keep and your own model, {why}, as counting examples does"
        findings.add("xla", rule, True, f"{_XLA_OFF}, or choose drop or repeat.")
