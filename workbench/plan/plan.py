"""The plan: `RunConfig` + `Devices` -> `Plan` with all numbers, or a `PlanError`.

A `PlanError` holds all problems.
"""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import catalog
from ..config import RunConfig
from .batches import Batches, Epoch, even_batch, plan_batches, plan_epoch
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
from .own_data import DATASET, OWN_ORDER, DataFacts, find_data
from .own_function import OwnFunction, check_own_together
from .placement import Placement, check_countable, place
from .problems import Findings, PlanError
from .sharding import plan_sharding

if TYPE_CHECKING:
    from ..devices import Devices

MAX_STEPS_PER_STACK = 50
CALL_SECONDS, STEP_SECONDS = 0.2, 0.0005
"""How long a graph call should last, and the least time of a step."""
CPU_SPEED, GPU_SPEED = 5e10, 5e12
"""Operations in a second, by which the steps of a call are estimated."""
TRAINING = 3
"""Operations of a training step for each of its forward pass."""
MOST_CALL_STEPS, OWN_CALL_STEPS = 200, 20
"""The most steps of a call; those of a model of the user, whose operations are not known."""
LED_CALL_STEPS = 20
"""The steps of a call of a worker that is led, which mostly waits for parameter servers."""
REHEARSED_STEPS = 2
STACK_BYTES = 16 * 2**20
"""The limit of a stack of batches in bytes, so that a queue of stacks fits any memory."""


@dataclass(frozen=True)
class Plan:
    """The plan of a run: all choices are made, all numbers are known. Sizes count examples."""

    config: RunConfig
    strategy: str
    strategy_label: str
    loop: str
    data: str
    model: str
    own_model: OwnFunction | None
    num_replicas_in_sync: int
    physical_devices: tuple[str, ...]
    """The devices that the run holds, such as `("CPU:0",)`."""
    replica_devices: tuple[str, ...]
    """A logical device for each replica, with the name that TensorFlow gives it."""
    virtual: bool
    """Whether several replicas share one physical device; speeds then mean little."""
    cross_device_ops: str
    gpu_memory: str | int
    per_replica_batch_size: int
    global_batch_size: int | None
    """Examples of all replicas in a step; None if workers are asynchronous."""
    num_train_examples: int
    num_test_examples: int
    steps_per_epoch: int
    epochs: int
    total_steps: int
    leftover_examples: int
    """An epoch's examples that fill no global batch."""
    last_batch: str
    learning_rate: float | None
    """None: the learning rate of the optimizer that the model is compiled with."""
    pipeline: str
    steps_per_stack: int
    """Batches that the pipeline hands over at a time."""
    interpreter: str
    arithmetic: str
    element_spec: str
    notes: tuple[str, ...]
    # The next fields are missing in plans of earlier releases. Each default is the value that
    # the earlier plans implied.
    steps_per_call: int | None = None
    """None: as `graph_steps` estimates."""
    tasks: tuple[str, ...] = ("worker-0",)
    """The run's tasks; the first task leads."""
    local_replicas: int = 0
    """Replicas that each worker records; 0 means all replicas."""
    auto_shard: str = "auto"
    keras: str = "installed"
    """`legacy` if only the tf-keras package can run the plan."""
    optimizer: str = "adam"
    """A name of the catalogue."""
    own_data: OwnFunction | None = None
    own_step: OwnFunction | None = None
    data_facts: DataFacts | None = None
    """The facts found about the user's own data."""
    is_rehearsal: bool = False

    def __post_init__(self) -> None:
        if not self.local_replicas:
            object.__setattr__(self, "local_replicas", self.num_replicas_in_sync)

    @property
    def examples_per_step(self) -> int:
        """Examples of a step: of all replicas, or of one worker if workers are asynchronous."""
        return self.global_batch_size or self.per_replica_batch_size

    @property
    def on_tpu(self) -> bool:
        """Whether the replicas are cores of a TPU."""
        return catalog.STRATEGIES[self.strategy].tpu

    @property
    def test_batch_size(self) -> int:
        """Examples of a test step.

        On a TPU no batch may be short, so this number divides the number of test examples.
        """
        if not self.on_tpu:
            return self.examples_per_step
        return even_batch(self.num_test_examples, self.examples_per_step, self.num_replicas_in_sync)

    @property
    def workers(self) -> int:
        """Processes that train."""
        return sum(task.startswith("worker-") for task in self.tasks)

    @property
    def synchronous(self) -> bool:
        """Whether all replicas step together; else each worker counts its own steps."""
        return not self.tasks[0].startswith("chief-")

    @property
    def read_per_step(self) -> int:
        """Examples that each worker reads for a step, if the pipeline is split among workers."""
        sharers = self.workers if self.synchronous else 1
        in_all = self.global_batch_size or self.per_replica_batch_size
        return in_all // plan_sharding(self.config, sharers, self.data_facts).readers

    @property
    def graph_steps(self) -> int:
        """Steps of a graph call: the number asked for, else about 0.2 s of them by estimate.

        A call takes whole stacks, except at the end of an epoch. In `fit`, Keras 3 trains beyond
        the end of an epoch if this does not divide its steps.
        """
        wish = OWN_CALL_STEPS
        if not self.synchronous:
            wish = min(LED_CALL_STEPS, math.ceil(self.steps_per_epoch / self.workers))
        elif model := catalog.MODELS.get(self.model):
            operations = TRAINING * model.operations * self.examples_per_step
            speed = CPU_SPEED if self.physical_devices[0].startswith("CPU") else GPU_SPEED
            wish = int(CALL_SECONDS / (STEP_SECONDS + operations / speed))
        wish = self.steps_per_call or max(1, min(wish, MOST_CALL_STEPS))
        stack, epoch = self.steps_per_stack, self.steps_per_epoch
        wish = math.ceil(wish / stack) * stack
        if self.loop == "custom" or not self.synchronous:
            return wish
        return max((n for n in range(stack, wish + 1, stack) if epoch % n == 0), default=epoch)

    @property
    def test_steps(self) -> int:
        """Steps of a test pass: every test example once; in a rehearsal, at most two batches."""
        whole = -(-self.num_test_examples // self.test_batch_size)
        return min(whole, REHEARSED_STEPS) if self.is_rehearsal else whole

    @property
    def rehearsal(self) -> Plan:
        """The plan of a rehearsal: everything that this plan does, for two steps."""
        call = self.steps_per_call and min(self.steps_per_call, REHEARSED_STEPS)
        return dataclasses.replace(
            self,
            is_rehearsal=True,
            epochs=1,
            steps_per_epoch=REHEARSED_STEPS,
            total_steps=REHEARSED_STEPS,
            steps_per_stack=min(self.steps_per_stack, REHEARSED_STEPS),
            steps_per_call=call,
        )

    @property
    def who_trains(self) -> str:
        """Replicas and processes in words, such as `2 workers x 1 replica`."""
        return who_trains(
            self.tasks, self.num_replicas_in_sync, self.local_replicas, virtual=self.virtual
        )

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        values: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(self)))
        return {**values, "config": self.config.to_json()}


def who_trains(tasks: Sequence[str], replicas: int, local_replicas: int, *, virtual: bool) -> str:
    """Return the replicas and processes of a plan in words, such as `2 workers x 1 replica`."""
    if len(tasks) > 1:
        workers = sum(task.startswith("worker-") for task in tasks)
        each = f"{local_replicas} replica{'s' * (local_replicas > 1)}"
        return f"{workers} worker{'s' * (workers > 1)} x {each}"
    return f"{replicas} {'virtual ' * virtual}replica{'s' * (replicas > 1)}"


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
    if data and placement and batches:
        sharding = plan_sharding(config, placement.workers_in_step, facts)
        epoch = plan_epoch(findings, config, data, batches, sharding)
    if strategy and strategy.tpu and placement and epoch:
        check_static(findings, config, placement.replicas, epoch)
    if own_data and facts is None:
        rule = "a data set whose examples are counted before planning"
        fix = "Pass the result of workbench.runs.inspect_data(config) to make_plan."
        findings.add("data", rule, config.data, fix)
    if findings.problems or not (strategy and data and placement and batches and epoch):
        raise PlanError(findings.problems)
    plan = _assemble(config, strategy, placement, batches, epoch, facts)
    own_order = (OWN_ORDER,) if facts and facts.kind == DATASET else ()
    several = plan.num_replicas_in_sync > 1
    uneven = (OWN_STEP_KEEPS,) if own_step and several and epoch.last_batch == "keep" else ()
    return dataclasses.replace(
        plan,
        model=model_name,
        own_model=own_model,
        own_data=own_data,
        own_step=own_step,
        optimizer=optimizer,
        learning_rate=None if optimizer == catalog.COMPILED else plan.learning_rate,
        notes=(*plan.notes, *own_order, *uneven, *keras_notes(config, strategy, devices)),
    )


def _assemble(
    config: RunConfig,
    strategy: catalog.Strategy,
    placement: Placement,
    batches: Batches,
    epoch: Epoch,
    facts: DataFacts | None,
) -> Plan:
    one_by_one = config.eager or isinstance(config.steps_per_call, int)
    stack = _steps_per_stack(config, batches, epoch, facts, one_by_one)
    sharding = plan_sharding(config, placement.workers_in_step, facts)
    return Plan(
        config=config,
        strategy=config.strategy,
        strategy_label=strategy.label,
        loop=config.loop,
        data=config.data,
        model="",
        own_model=None,
        num_replicas_in_sync=placement.replicas if strategy.synchronous else 1,
        physical_devices=placement.physical,
        replica_devices=placement.logical,
        virtual=placement.virtual,
        cross_device_ops=placement.cross_device_ops,
        gpu_memory=placement.gpu_memory,
        per_replica_batch_size=batches.per_replica,
        global_batch_size=batches.in_all if strategy.synchronous else None,
        num_train_examples=epoch.train_examples,
        num_test_examples=epoch.test_examples,
        steps_per_epoch=epoch.steps,
        epochs=config.epochs,
        total_steps=epoch.steps * config.epochs,
        leftover_examples=epoch.leftover,
        last_batch=epoch.last_batch,
        learning_rate=_learning_rate(config, placement.replicas if strategy.synchronous else 1),
        pipeline=config.pipeline,
        steps_per_stack=stack,
        interpreter=config.interpreter or sys.executable,
        arithmetic=epoch.arithmetic,
        element_spec=_element_spec(config, batches, facts),
        notes=(*placement.notes, *sharding.notes),
        steps_per_call=_steps_per_call(config, epoch, placement),
        tasks=placement.tasks,
        local_replicas=placement.local_replicas,
        auto_shard=sharding.policy,
        data_facts=facts,
        keras="legacy" if uses_legacy_keras(config, strategy) else "installed",
    )


def _steps_per_call(config: RunConfig, epoch: Epoch, placement: Placement) -> int | None:
    if config.eager:
        return 1
    if isinstance(config.steps_per_call, int | None):
        return config.steps_per_call
    return epoch.steps if placement.synchronous else math.ceil(epoch.steps / placement.workers)


def _steps_per_stack(
    config: RunConfig, batches: Batches, epoch: Epoch, facts: DataFacts | None, one_by_one: bool
) -> int:
    """Return the steps of a stack, so that the stacks divide an epoch as evenly as possible.

    Surplus steps in the last stack of an epoch are computed in vain.
    """
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
