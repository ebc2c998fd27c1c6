"""The constants at the top of a script, each with a value from the plan and a comment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .. import catalog
from ..fields import FIELDS
from ..plan.sharding import read_per_step

if TYPE_CHECKING:
    from ..config import RunConfig
    from ..plan import Plan


LINE_LENGTH = 100
_NAME = re.compile(r"\b[A-Z_]{2,}\b")
EAGERLY = "tf.config.run_functions_eagerly(True)  # no graphs, for debugging"


def constants(plan: Plan, used: frozenset[str]) -> str:
    """Return each constant that the script uses with its comment, in reading order.

    The batch sizes and the steps of an epoch follow from one another: only one of them is a number.
    """
    if plan.optimizer != catalog.COMPILED:  # also where no function of ours reads them
        used |= {"OPTIMIZER", "LEARNING_RATE"}
    found = list(_all(plan, used))
    for name, value, _ in reversed(found):
        if name in used:
            used |= set(_NAME.findall(value))
    lines = [
        _commented(f"{name} = {value}", comment) for name, value, comment in found if name in used
    ]
    config = plan.config
    eager = [EAGERLY] if config.eager else []
    settings = _precision(config.precision) + _determinism(config.deterministic) + eager
    return "\n".join(lines + settings)


def _commented(line: str, comment: str) -> str:
    beside = f"{line}  # {comment}"
    return beside if len(beside) <= LINE_LENGTH and "\n" not in line else f"# {comment}\n{line}"


def _precision(name: str) -> list[str]:
    """Return the statement that sets the precision; float32, the default, needs none."""
    if name == "float32":
        return []
    if name == "float64":
        return ['tf.keras.backend.set_floatx("float64")']
    return [f'tf.keras.mixed_precision.set_global_policy("{name}")']


def _determinism(on: bool) -> list[str]:
    """Return the statement that makes operations deterministic, if they should be."""
    call = "tf.config.experimental.enable_op_determinism()"
    return [_commented(call, "the same numbers each time, also on GPUs")] if on else []


def literal(value: object) -> str:
    """Return the value as Python code, with the double quotes that formatters want.

    Text can never end early or become code, because `repr` escapes it.
    """
    if isinstance(value, tuple):
        items = ", ".join(map(literal, value))
        return f"({items},)" if len(value) == 1 else f"({items})"
    if isinstance(value, str):
        return '"' + repr("'" + value)[2:] if '"' not in value else repr(value)
    return repr(value)


def _all(plan: Plan, used: frozenset[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the name, the code and the comment of each constant, in reading order."""
    planned = tuple(_planned(plan, used))
    yield from planned
    known = {name for name, *_ in planned}
    for field, row in FIELDS.items():
        if row.comment and row.constant not in known:
            yield _of(plan.config, field)


def _of(config: RunConfig, field: str) -> tuple[str, str, str]:
    """Return the constant that holds the value of a field."""
    row = FIELDS[field]
    return row.constant, literal(getattr(config, field)), row.comment


def _planned(plan: Plan, used: frozenset[str]) -> Iterator[tuple[str, str, str]]:
    yield _of(plan.config, "seed")
    yield from _device_constants(plan)
    yield "NUM_TRAIN_EXAMPLES", f"{plan.num_train_examples:_}", "examples to train on"
    yield "NUM_TEST_EXAMPLES", f"{plan.num_test_examples:_}", "examples to test on"
    for field in ("synthetic_features", "synthetic_noise", "data_dir"):
        yield _of(plan.config, field)
    yield from _batch_sizes(plan, used)
    after = FIELDS["epochs"].comment if plan.is_tested else "each followed by a checkpoint"
    yield "EPOCHS", repr(plan.epochs), after
    yield "STEPS_PER_EPOCH", *_steps_per_epoch(plan)
    size = _step_size(plan)
    passes = f"-(-STEPS_PER_EPOCH * {size} // NUM_TRAIN_EXAMPLES)"
    yield "PASSES_PER_EPOCH", passes, "through the training data, rounded up"
    tested = size if plan.test_batch_size == plan.examples_per_step else repr(plan.test_batch_size)
    yield "TEST_BATCH_SIZE", tested, "examples of all replicas in a test step"
    steps = "-(-NUM_TEST_EXAMPLES // TEST_BATCH_SIZE)"
    steps = repr(plan.test_steps) if plan.is_rehearsal else steps
    yield "TEST_STEPS", steps, "every test example once"
    if plan.optimizer != catalog.COMPILED:
        made = catalog.OPTIMIZERS[plan.optimizer].expression
        yield "OPTIMIZER", made, "called with LEARNING_RATE"
    yield "LEARNING_RATE", repr(plan.learning_rate), _scaling(plan)
    if plan.data in catalog.DATA:
        accuracy = catalog.DATA[plan.data].accuracy
        metric = "".join(part.capitalize() for part in accuracy.split("_"))
        named = f"tf.keras.metrics.{metric if plan.synchronous else accuracy}"
        share = "the share of right answers" if plan.synchronous else "1 or 0 for each example"
        yield "ACCURACY", named, share
    yield _of(plan.config, "clip_norm")
    yield "STEPS_PER_STACK", repr(plan.steps_per_stack), "batches in one element of the pipeline"
    yield "STEPS_PER_EXECUTION", *_steps_per_execution(plan)


def _batch_sizes(plan: Plan, used: frozenset[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the size that the config gives, as a number, and the other, which follows from it."""
    in_all = "GLOBAL_BATCH_SIZE", "examples in a step, of all replicas"
    each = "PER_REPLICA_BATCH_SIZE", "examples in a step, of each replica"
    replicas = _replicas(plan, used)
    config = plan.config
    if config.per_replica_batch_size is None and config.global_batch_size is not None:
        yield in_all[0], repr(config.global_batch_size), in_all[1]
        divisors = f"({' * '.join(replicas)})" if len(replicas) > 1 else "".join(replicas)
        yield each[0], " // ".join(filter(None, [in_all[0], divisors])), each[1]
    else:
        yield each[0], repr(plan.per_replica_batch_size), each[1]
        yield in_all[0], " * ".join([each[0], *replicas]), in_all[1]
    shared = read_per_step(plan) != plan.examples_per_step
    yield "READ_PER_STEP", _step_size(plan) + " // WORKERS" * shared, _read_per_step(plan)


def _replicas(plan: Plan, used: frozenset[str]) -> list[str]:
    """Return the factors of the number of replicas: workers, and replicas of each."""
    workers = ["WORKERS"] if plan.workers > 1 else []
    here = plan.num_replicas_in_sync // plan.workers
    if "REPLICAS" in used:
        return [*workers, "REPLICAS"]
    if "DEVICES" in used and here == len(plan.physical_devices) > 1:
        return [*workers, "len(DEVICES)"]
    return [*workers, repr(here)] if here > 1 else workers


def _step_size(plan: Plan) -> str:
    """Return the constant that says how many examples a step takes."""
    return "GLOBAL_BATCH_SIZE" if plan.synchronous else "PER_REPLICA_BATCH_SIZE"


def _steps_per_epoch(plan: Plan) -> tuple[str, str]:
    """Return the steps of an epoch, and what becomes of the examples that fill no batch."""
    size = _step_size(plan)
    full, left = divmod(plan.num_train_examples, plan.examples_per_step)
    once = full + bool(left and plan.last_batch != "drop")
    stacked = plan.loop == "fit" and plan.pipeline == "indexed"  # its stacks divide an epoch
    if plan.config.steps_per_epoch is not None or plan.steps_per_epoch != once or stacked:
        return repr(plan.steps_per_epoch), plan.arithmetic.split("; ", 1)[1]
    ends = {
        "drop": "an incomplete batch is dropped",
        "keep": "the last one may be short",
        "repeat": "the last one is filled up",
    }
    end = ends[plan.last_batch]
    if read_per_step(plan) != plan.examples_per_step:  # workers train on data of their own
        end = plan.arithmetic.split("; ")[2]
    fits = f"NUM_TRAIN_EXAMPLES // {size}"
    return (fits if plan.last_batch == "drop" else f"-(-{fits})"), end


def _steps_per_execution(plan: Plan) -> tuple[str, str]:
    in_call = "steps in one call of a graph function, at most"
    if plan.loop == "fit" and plan.synchronous:
        in_call = "must divide STEPS_PER_EPOCH, else fit trains too many"
        if plan.graph_steps == plan.steps_per_epoch and plan.steps_per_call is None:
            return "STEPS_PER_EPOCH", in_call
        if plan.graph_steps > 1 and plan.pipeline != "indexed":
            of = f"range(1, {plan.graph_steps + 1})"
            return f"max(n for n in {of} if STEPS_PER_EPOCH % n == 0)", in_call
    elif plan.pipeline == "indexed" and plan.synchronous:
        in_call += "; a multiple of STEPS_PER_STACK"
    return repr(plan.graph_steps), in_call


def _device_constants(plan: Plan) -> Iterator[tuple[str, str, str]]:
    yield "WORKERS", repr(plan.workers), "processes that train"
    yield "TASKS", _tasks(plan), "processes of each kind"
    yield "DEVICES", literal(plan.physical_devices), "must be on this machine"
    shared = "virtual devices that share a physical one" if plan.virtual else "cores"
    yield "REPLICAS", repr(plan.num_replicas_in_sync), shared
    yield _of(plan.config, "tpu")
    yield "GPU_MEMORY", literal(plan.gpu_memory), "growth, all, or MiB per replica"
    operations = catalog.CROSS_DEVICE_OPS[plan.cross_device_ops]
    yield "CROSS_DEVICE_OPS", operations.expression, "how gradients are summed"
    yield "COMMUNICATION", _communication(plan.config), "how gradients are summed"
    policy = f"tf.data.experimental.AutoShardPolicy.{plan.auto_shard.upper()}"
    alone = plan.workers == 1
    split = "no effect in one process" if alone else "how data is split among workers"
    yield "AUTO_SHARD", policy, split
    yield _of(plan.config, "data_files")


def _tasks(plan: Plan) -> str:
    servers = sum(task.startswith("ps-") for task in plan.tasks)
    return f'{{"chief": 1, "worker": WORKERS, "ps": {servers}}}'


def _read_per_step(plan: Plan) -> str:
    if plan.workers == 1:
        return "examples read for a step"
    if read_per_step(plan) == plan.global_batch_size:
        return "examples that each worker reads for a step, of which it keeps its part"
    return "examples that each worker reads for a step"


def _communication(config: RunConfig) -> str:
    options = "tf.distribute.experimental.CommunicationOptions"
    kind = "tf.distribute.experimental.CommunicationImplementation"
    lines = f"    implementation={kind}.{config.communication.upper()},\n"
    if config.bytes_per_pack:
        lines += f"    bytes_per_pack={config.bytes_per_pack},\n"
    return f"{options}(\n{lines})"


def _scaling(plan: Plan) -> str:
    name, base = plan.config.learning_rate_scaling, plan.config.learning_rate
    if name == "none":
        return "not scaled by the number of replicas"
    factor = "x" if name == "linear" else "x the square root of"
    return f"{base!r} {factor} {plan.num_replicas_in_sync} replicas"
