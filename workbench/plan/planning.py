"""Planning: `RunConfig` + `Devices` -> `Plan` with all numbers, or a `PlanError`.

A `PlanError` holds all problems.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

from .. import catalog
from .batches import plan_batches, plan_epoch
from .checks import (
    OWN_STEP_KEEPS,
    check_data_folder,
    check_fields,
    check_static,
    check_together,
    check_xla,
    find_model,
    find_step,
    plan_optimizer,
)
from .keras import check_keras, keras_notes, uses_legacy_keras
from .launching import check_launcher, devices_of_a_task
from .memory import check_memory
from .own_function import check_own_together, find_data, notes_of_data
from .placement import check_countable, place
from .plan import Plan
from .problems import Findings, PlanError
from .sharding import plan_sharding

if TYPE_CHECKING:
    from ..config import RunConfig
    from ..devices import Devices
    from .batches import Batches, Epoch
    from .placement import Placement
    from .plan import DataFacts

MAX_STEPS_PER_STACK = 50
STACK_BYTES = 16 * 2**20
"""The limit of a stack of batches in bytes, so that a queue of stacks fits any memory."""


def make_plan(config: RunConfig, devices: Devices, facts: DataFacts | None = None) -> Plan:
    """Resolve a config for a machine.

    `facts` describes the user's own data, as `workbench.runs.inspect_data` found it.

    Raises:
        PlanError: with every problem found: field, rule, value received, fix.
    """
    findings = Findings()
    strategy = findings.known("strategy", config.strategy, catalog.STRATEGIES)
    check_launcher(findings, config)
    devices = devices_of_a_task(config, devices)
    data, own_data = find_data(findings, config, facts)
    check_fields(findings, config)
    check_data_folder(findings, config, data)
    model_name = config.model or (data.model if data else "")
    own_model = find_model(findings, config, model_name)
    own_step = find_step(findings, config)
    check_own_together(findings, own_data, own_model, own_step)
    optimizer = plan_optimizer(findings, config, own_model=own_model is not None)
    placement = place(findings, config, devices, strategy)
    if placement:
        check_together(findings, config, placement, data)
    if placement and strategy:
        check_xla(findings, config, strategy, placement)
    if strategy:
        check_keras(findings, config, strategy, devices, own_model)
    synchronous = strategy is None or strategy.synchronous
    in_step = placement.replicas if placement and synchronous else 1
    batches = plan_batches(findings, config, in_step) if placement else None
    if strategy and data and placement and batches:
        check_memory(findings, config, devices, placement, data, batches, facts)
    if placement and not check_countable(findings, placement):
        placement = None
    epoch = None
    workers = placement.workers_in_step if placement else 1
    sharding = plan_sharding(config, workers, facts)
    if data and placement and batches:
        epoch = plan_epoch(findings, config, data, batches, sharding)
    if strategy and strategy.tpu and placement and epoch:
        check_static(findings, config, placement.replicas, epoch, facts)
    if own_data and facts is None:
        rule = "a data set whose examples are counted before planning"
        fix = "Pass the result of workbench.runs.inspect_data(config) to make_plan."
        findings.add("data", rule, config.data, fix)
    if findings.problems or not (strategy and data and placement and batches and epoch):
        raise PlanError(findings.problems)
    of_data = notes_of_data(facts, epoch.test_examples)
    is_uneven = own_step and in_step > 1 and epoch.last_batch == "keep"
    uneven = (OWN_STEP_KEEPS,) if is_uneven else ()
    of_keras = keras_notes(config, strategy, devices)
    rate = _learning_rate(config, in_step)
    return Plan(
        config=config,
        strategy=config.strategy,
        strategy_label=strategy.label,
        loop=config.loop,
        data=config.data,
        model=model_name,
        own_model=own_model,
        num_replicas_in_sync=in_step,
        physical_devices=placement.physical,
        replica_devices=placement.logical,
        virtual=placement.virtual,
        cross_device_ops=placement.cross_device_ops,
        gpu_memory=placement.gpu_memory,
        per_replica_batch_size=batches.per_replica,
        global_batch_size=batches.in_all if synchronous else None,
        num_train_examples=epoch.train_examples,
        num_test_examples=epoch.test_examples,
        steps_per_epoch=epoch.steps,
        epochs=config.epochs,
        total_steps=epoch.steps * config.epochs,
        leftover_examples=epoch.leftover,
        last_batch=epoch.last_batch,
        learning_rate=None if optimizer == catalog.COMPILED else rate,
        pipeline=config.pipeline,
        steps_per_stack=_steps_per_stack(config, batches, epoch, facts),
        interpreter=config.interpreter or sys.executable,
        arithmetic=epoch.arithmetic,
        element_spec=_element_spec(config, batches, facts),
        notes=(*placement.notes, *sharding.notes, *of_data, *uneven, *of_keras),
        steps_per_call=_steps_per_call(config, epoch, placement),
        tasks=placement.tasks,
        local_replicas=placement.local_replicas,
        auto_shard=sharding.policy,
        keras="legacy" if uses_legacy_keras(config, strategy) else "installed",
        optimizer=optimizer,
        own_data=own_data,
        own_step=own_step,
        data_facts=facts,
    )


def _steps_per_call(config: RunConfig, epoch: Epoch, placement: Placement) -> int | None:
    if config.eager:
        return 1
    if isinstance(config.steps_per_call, int | None):
        return config.steps_per_call
    return epoch.steps if placement.synchronous else math.ceil(epoch.steps / placement.workers)


def _steps_per_stack(
    config: RunConfig, batches: Batches, epoch: Epoch, facts: DataFacts | None
) -> int:
    """Return the steps of a stack, so that the stacks divide an epoch as evenly as possible.

    Surplus steps in the last stack of an epoch are computed in vain.
    """
    one_by_one = config.eager or isinstance(config.steps_per_call, int)
    if config.pipeline != "indexed" or one_by_one:
        return 1
    known = catalog.DATA.get(config.data)
    features = (known and known.features) or config.synthetic_features
    example_bytes = max(1, facts.example_bytes) if facts else 4 * features
    fitting = STACK_BYTES // (example_bytes * batches.in_all)
    stacks = math.ceil(epoch.steps / max(1, min(MAX_STEPS_PER_STACK, fitting)))
    return math.ceil(epoch.steps / stacks)


def _learning_rate(config: RunConfig, replicas: int) -> float:
    factors = {"none": 1.0, "linear": float(replicas), "square_root": math.sqrt(replicas)}
    return config.learning_rate * factors[config.learning_rate_scaling]


def _element_spec(config: RunConfig, batches: Batches, facts: DataFacts | None) -> str:
    each = batches.per_replica
    if facts is not None:
        return f"a replica's batch: {each} x {facts.example}"
    if config.data == "fashion_mnist":
        return f"a replica's batch: images ({each}, 28, 28, 1) float32, labels ({each},) uint8"
    features = config.synthetic_features
    return f"a replica's batch: features ({each}, {features}) float32, labels ({each}, 1) float32"
