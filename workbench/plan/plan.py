"""The plan of a run, and its plan.json: all choices are made, all numbers are known.

Supervisors and readers of runs use the same class, so it needs little time to import.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass
from typing import Any

from .. import catalog
from ..config import ConfigError, RunConfig, plain, shown, type_name, types_of

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
ARRAYS, DATASET = "arrays", "dataset"
"""The kinds of the user's own data."""
FEATURES, PAIRS, WEIGHTED = "features", "pairs", "weighted"
"""The forms of examples: features alone; with labels; with labels and a sample weight."""
BATCHES, SEQUENCES, GENERATORS = "batches", "sequences", "generators"
"""What gives batches: a tf.data.Dataset, keras.utils.PyDataset, or generators."""
CHIEF, EVALUATOR = "chief-0", "evaluator-0"
ONE_TASK = ("worker-0",)
TASK_NAME = re.compile(r"[a-z_]+-\d+", re.ASCII)
"""A type of `TF_CONFIG` and a number. It names a folder of the run, so it is never a path."""
_FIX = "Open the run with the release that wrote it, or restore the file from a copy."
_LEAST = {
    "num_replicas_in_sync": 1,
    "per_replica_batch_size": 1,
    "num_train_examples": 0,
    "num_test_examples": 0,
    "steps_per_epoch": 1,
    "steps_per_stack": 1,
    "epochs": 0,
    "total_steps": 0,
}
"""The counts of a plan, and the smallest value of each."""


@dataclass(frozen=True)
class OwnFunction:
    """A user's function for the model, the data or the step."""

    function: str
    module: str | None
    """The module from which a script imports it; None if `source` is a part of the script."""
    source: str | None
    """The complete text of the file; None if it was given as `module:function`."""
    folder: str | None = None
    """The folder of the file; None if it was given as `module:function`."""


@dataclass(frozen=True)
class DataFacts:
    """The facts found about the data of a user's function. Sizes count examples."""

    kind: str
    """`arrays`; or `dataset`: all that is read in its own order."""
    train_examples: int
    test_examples: int
    example: str
    """An example in words: shapes and types."""
    example_bytes: int
    """Bytes of an example in memory; 0 if examples differ in size."""
    reads_files: bool = False
    """Whether it reads TFRecord, text or fixed-length files, which can be split among workers."""
    form: str = PAIRS
    """What an example is: `FEATURES`, `PAIRS` or `WEIGHTED`."""
    given: str = ""
    """What gives batches, which a script takes apart: `BATCHES`, `SEQUENCES` or `GENERATORS`; empty
    if there are none."""


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
    tasks: tuple[str, ...] = ONE_TASK
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
        kind = catalog.STRATEGIES.get(self.strategy)  # None in a plan of a later release
        return kind is not None and kind.tpu

    @property
    def is_tested(self) -> bool:
        """Whether there are examples to test on."""
        return self.num_test_examples > 0

    @property
    def test_batch_size(self) -> int:
        """Examples of a test step.

        On a TPU no batch may be short, so this number divides the number of test examples.
        """
        if not self.on_tpu:
            return self.examples_per_step
        return even_batch(self.num_test_examples, self.examples_per_step, self.num_replicas_in_sync)

    @property
    def leader(self) -> str:
        """The task that records the epochs and the end of the run, and keeps saved files."""
        return self.tasks[0]

    @property
    def worker_tasks(self) -> tuple[str, ...]:
        """The tasks that train, and whose steps are recorded."""
        return tuple(task for task in self.tasks if task.startswith("worker-"))

    @property
    def workers(self) -> int:
        """Processes that train."""
        return len(self.worker_tasks)

    @property
    def synchronous(self) -> bool:
        """Whether all replicas step together; else a chief leads, and each worker counts alone."""
        return self.leader != CHIEF

    def restarts_alone(self, task: str) -> bool:
        """Return whether the others go on while a task that was killed starts again.

        A chief waits for its workers, and an evaluator only reads checkpoints.
        """
        return not self.synchronous and task.startswith(("worker-", "evaluator-"))

    @property
    def evaluator(self) -> bool:
        """Whether a task of its own tests the checkpoints, so that training waits for no test."""
        return EVALUATOR in self.tasks

    @property
    def legacy_keras(self) -> bool:
        """Whether `tf.keras` is the tf-keras package."""
        return self.keras == "legacy"

    @property
    def own_functions(self) -> dict[str, OwnFunction]:
        """The user's own functions by the fields that name them: data, model, step."""
        found = {"data": self.own_data, "model": self.own_model, "step": self.own_step}
        return {field: own for field, own in found.items() if own}

    @property
    def steps_of_a_pass(self) -> int:
        """Full global batches of an epoch, at most those of one pass through the data."""
        return min(self.num_train_examples // self.examples_per_step, self.steps_per_epoch)

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
        if len(self.tasks) > 1:
            each = f"{self.local_replicas} replica{'s' * (self.local_replicas > 1)}"
            return f"{self.workers} worker{'s' * (self.workers > 1)} x {each}"
        replicas = self.num_replicas_in_sync
        return f"{replicas} {'virtual ' * self.virtual}replica{'s' * (replicas > 1)}"

    @property
    def in_short(self) -> str:
        """The strategy with its replicas or workers, such as `Mirrored x 2`."""
        kind = catalog.STRATEGIES.get(self.strategy)  # None in a plan of a later release
        if kind and kind.workers:
            return f"{self.strategy_label} x {self.workers}"
        if kind and (kind.mirrors or kind.tpu):
            return f"{self.strategy_label} x {self.num_replicas_in_sync}"
        return self.strategy_label

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        values: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(self)))
        return {**values, "config": self.config.to_json()}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Plan:
        """Return the plan that `to_json` wrote; fields that this release does not know are ignored.

        Raises:
            ValueError: a field is missing or has a wrong value, or the config is of another
                release. The message goes on after the file's name.
        """
        plan: Plan = _read(cls, values, "a plan")
        for name, least in _LEAST.items():
            if getattr(plan, name) < least:
                got = f"has {getattr(plan, name)} as {name}"
                raise ValueError(f"{got}, instead of a whole number from {least}. {_FIX}")
        if not plan.worker_tasks or not all(map(TASK_NAME.fullmatch, plan.tasks)):
            got = f"has {list(plan.tasks)} as tasks"
            raise ValueError(f"{got}, instead of a list of names such as worker-0. {_FIX}")
        if not plan.physical_devices:
            raise ValueError(f"has no physical_devices, instead of one such as CPU:0. {_FIX}")
        return plan


def _read(kind: type, values: object, name: str) -> Any:
    """Return a dataclass from its values in JSON."""
    if not isinstance(values, Mapping):
        raise ValueError(f"has {shown(values)} as {name}, instead of an object. {_FIX}")
    needed = [each.name for each in dataclasses.fields(kind) if each.default is MISSING]
    if absent := [each for each in needed if each not in values]:
        raise ValueError(f"lacks fields of {name}: {', '.join(absent)}. {_FIX}")
    given = {
        each: _value(values[each], kinds, each)
        for each, kinds in types_of(kind).items()
        if each in values
    }
    return kind(**given)


def _value(value: Any, kinds: tuple[Any, ...], name: str) -> Any:
    records = [kind for kind in kinds if kind in (OwnFunction, DataFacts)]
    if records:
        return None if value is None else _read(records[0], value, name)
    try:
        return RunConfig.from_json(value) if RunConfig in kinds else plain(value, kinds)
    except ConfigError as error:
        raise ValueError(f"does not fit this release: {str(error).rstrip('.')}. {_FIX}") from error
    except (TypeError, OverflowError) as error:
        raise ValueError(
            f"has {shown(value)} as {name}, instead of {type_name(kinds)}. {_FIX}"
        ) from error


def even_batch(examples: int, most: int, replicas: int) -> int:
    """Return the largest batch size that divides the examples and is a multiple of replicas.

    The size is at most `most`, but at least `replicas`. `replicas` must divide the examples.
    """
    sizes = range(max(min(most, examples), replicas) // replicas * replicas, 0, -replicas)
    return next(size for size in sizes if examples % size == 0)
