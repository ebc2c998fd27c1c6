"""`RunConfig` + `Devices` -> `Plan`, every number resolved; or a `PlanError` with all problems."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from .. import catalog
from ..config import RunConfig
from .batches import Batches, Epoch, plan_batches, plan_epoch
from .own_model import OwnModel, read_own_model
from .placement import Placement, place
from .problems import Findings, PlanError

if TYPE_CHECKING:
    from ..devices import Devices

RowT = TypeVar("RowT", bound=catalog.Choice)

FIT_STEPS_PER_EXECUTION = 50
MAX_STEPS_PER_STACK = 50
UNLIMITED_STEPS_PER_CALL = 10_000
STACK_BYTES = 16 * 2**20
"""A stack of batches stays below this, so that a queue of them fits any memory."""


@dataclass(frozen=True)
class Plan:
    """What will happen, every choice made and every number known. Sizes count examples."""

    config: RunConfig
    strategy: str
    strategy_label: str
    loop: str
    data: str
    model: str
    own_model: OwnModel | None
    num_replicas_in_sync: int
    physical_devices: tuple[str, ...]
    """The devices held while it runs, such as `("CPU:0",)`."""
    replica_devices: tuple[str, ...]
    """A logical device for each replica, named as TensorFlow will."""
    virtual: bool
    """Whether several replicas share one physical device, so that speeds tell little."""
    cross_device_ops: str
    gpu_memory: str | int
    per_replica_batch_size: int
    global_batch_size: int
    num_train_examples: int
    num_test_examples: int
    steps_per_epoch: int
    epochs: int
    total_steps: int
    leftover_examples: int
    """An epoch's examples that fill no global batch."""
    last_batch: str
    learning_rate: float
    pipeline: str
    steps_per_stack: int
    """Batches handed over at a time by the pipeline."""
    max_steps_per_call: int
    interpreter: str
    arithmetic: str
    element_spec: str
    notes: tuple[str, ...]

    @property
    def local_replicas(self) -> int:
        """Replicas that the one task records."""
        return self.num_replicas_in_sync

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        values: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(self)))
        return {**values, "config": self.config.to_json(), "local_replicas": self.local_replicas}


def make_plan(config: RunConfig, devices: Devices) -> Plan:
    """Resolve a config for a machine.

    Raises:
        PlanError: with every problem found: field, rule, value received, fix.
    """
    findings = Findings()
    strategy = _available(findings, "strategy", config.strategy, catalog.STRATEGIES)
    _available(findings, "loop", config.loop, catalog.LOOPS)
    data = _available(findings, "data", config.data, catalog.DATA)
    for name, table in _PLAIN_CHOICES.items():
        findings.known(name, getattr(config, name), table)
    _check_numbers(findings, config)
    _check_data_folder(findings, config, data)
    model_name = config.model or (data.model if data else "")
    own_model = _find_model(findings, config, model_name)
    placement = place(findings, config, devices, strategy)
    batches = plan_batches(findings, config, placement.replicas) if placement else None
    epoch = plan_epoch(findings, config, data, batches) if data and batches else None
    if findings.problems or not (strategy and data and placement and batches and epoch):
        raise PlanError(tuple(findings.problems))
    return _assemble(config, strategy, data, model_name, own_model, placement, batches, epoch)


_PLAIN_CHOICES = {
    "cross_device_ops": catalog.CROSS_DEVICE_OPS,
    "optimizer": catalog.OPTIMIZERS,
    "pipeline": catalog.PIPELINES,
    "last_batch": catalog.LAST_BATCH,
    "learning_rate_scaling": catalog.LEARNING_RATE_SCALINGS,
}


def _available(findings: Findings, field: str, name: str, table: Mapping[str, RowT]) -> RowT | None:
    row = findings.known(field, name, table)
    if row is not None and row.reason:
        known = [name for name, choice in table.items() if choice.available]
        findings.add(field, f"one of {', '.join(known)}", name, f"{row.reason}.")
        return None
    return row


def _check_numbers(findings: Findings, config: RunConfig) -> None:
    findings.positive("epochs", config.epochs, 5)
    findings.positive("learning_rate", config.learning_rate, 0.001)
    if config.clip_norm is not None:
        findings.positive("clip_norm", config.clip_norm, 1.0)
        if config.loop == "fit":
            fix = "Choose the loop custom, or leave clip_norm empty."
            rule = "empty with Keras fit, which would clip each replica's part before the sum"
            findings.add("clip_norm", rule, config.clip_norm, fix)
    if config.steps_per_call is not None:
        findings.positive("steps_per_call", config.steps_per_call, 1)
    if config.data == "synthetic":
        findings.positive("synthetic_examples", config.synthetic_examples, 10_000)
        findings.positive("synthetic_features", config.synthetic_features, 10)
        if not (math.isfinite(config.synthetic_noise) and config.synthetic_noise >= 0):
            rule = "a finite number from 0"
            findings.add("synthetic_noise", rule, config.synthetic_noise, "Set it to 0.1.")
    if not 0 <= config.seed < 2**31:
        findings.add("seed", "from 0 to 2147483647", config.seed, "Set it to 42, for example.")


def _check_data_folder(findings: Findings, config: RunConfig, data: catalog.Data | None) -> None:
    if config.data_dir is None or data is None or not data.files:
        return
    folder = Path(config.data_dir).expanduser()
    if not folder.is_dir():
        fix = "Mend the path, or leave it empty to use the usual places."
        findings.add("data_dir", "a folder that exists", config.data_dir, fix)
        return
    missing = [name for name in data.files if not (folder / name).is_file()]
    if missing:
        rule = f"a folder with {', '.join(data.files)}"
        fix = f"Put the missing files into {folder}, or leave data_dir empty."
        findings.add("data_dir", rule, f"no {', '.join(missing)}", fix)


def _find_model(findings: Findings, config: RunConfig, name: str) -> OwnModel | None:
    if ":" in name:
        return read_own_model(findings, name)
    row = findings.known("model", name, catalog.MODELS) if name else None
    if row is not None and config.data in catalog.DATA and config.data not in row.data:
        fitting = [key for key, model in catalog.MODELS.items() if config.data in model.data]
        rule = f"a model for {config.data}: {', '.join(fitting)}, or one of your own"
        findings.add("model", rule, name, f"Choose {fitting[0]}.")
    return None


def _assemble(
    config: RunConfig,
    strategy: catalog.Strategy,
    data: catalog.Data,
    model: str,
    own_model: OwnModel | None,
    placement: Placement,
    batches: Batches,
    epoch: Epoch,
) -> Plan:
    one_by_one = config.eager or config.steps_per_call is not None
    stack = _steps_per_stack(config, batches, epoch, one_by_one)
    longest = FIT_STEPS_PER_EXECUTION if config.loop == "fit" else UNLIMITED_STEPS_PER_CALL
    return Plan(
        config=config,
        strategy=config.strategy,
        strategy_label=strategy.label,
        loop=config.loop,
        data=config.data,
        model=model,
        own_model=own_model,
        num_replicas_in_sync=placement.replicas,
        physical_devices=placement.physical,
        replica_devices=placement.logical,
        virtual=placement.virtual,
        cross_device_ops=placement.cross_device_ops,
        gpu_memory=placement.gpu_memory,
        per_replica_batch_size=batches.per_replica,
        global_batch_size=batches.in_all,
        num_train_examples=epoch.train_examples,
        num_test_examples=epoch.test_examples,
        steps_per_epoch=epoch.steps,
        epochs=config.epochs,
        total_steps=epoch.steps * config.epochs,
        leftover_examples=epoch.leftover,
        last_batch=epoch.last_batch,
        learning_rate=_learning_rate(config, placement.replicas),
        pipeline=config.pipeline,
        steps_per_stack=stack,
        max_steps_per_call=1 if config.eager else config.steps_per_call or longest,
        interpreter=config.interpreter or sys.executable,
        arithmetic=epoch.arithmetic,
        element_spec=_element_spec(config, batches),
        notes=placement.notes,
    )


def _steps_per_stack(config: RunConfig, batches: Batches, epoch: Epoch, one_by_one: bool) -> int:
    if config.pipeline != "indexed" or one_by_one:
        return 1
    floats = 28 * 28 if config.data == "fashion_mnist" else config.synthetic_features
    fitting = STACK_BYTES // (4 * floats * batches.in_all)
    return max(1, min(MAX_STEPS_PER_STACK, epoch.steps, fitting))


def _learning_rate(config: RunConfig, replicas: int) -> float:
    factors = {"none": 1.0, "linear": float(replicas), "square_root": math.sqrt(replicas)}
    return config.learning_rate * factors[config.learning_rate_scaling]


def _element_spec(config: RunConfig, batches: Batches) -> str:
    each = batches.per_replica
    if config.data == "fashion_mnist":
        return f"a replica's batch: images ({each}, 28, 28, 1) float32, labels ({each},) uint8"
    features = config.synthetic_features
    return f"a replica's batch: features ({each}, {features}) float32, labels ({each}, 1) float32"
