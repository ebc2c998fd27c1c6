"""The constants at the top of a script, each with a value from the plan and a comment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .. import catalog
from ..fields import FIELDS
from ..plan.sharding import read_per_step

if TYPE_CHECKING:
    from ..config import RunConfig
    from ..plan import Plan


LINE_LENGTH = 100
EAGERLY = "tf.config.run_functions_eagerly(True)  # no graphs, for debugging"


def constants(plan: Plan, used: frozenset[str]) -> str:
    """Return each constant that the script uses with its comment, in reading order."""
    used |= {"WORKERS"} if "TASKS" in used else set()  # TASKS contains WORKERS
    if plan.optimizer != catalog.COMPILED:  # also where no function of ours reads them
        used |= {"OPTIMIZER", "LEARNING_RATE"}
    lines = [
        _commented(f"{name} = {value}", comment)
        for name, value, comment in _all(plan)
        if name in used
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


def _all(plan: Plan) -> Iterator[tuple[str, str, str]]:
    """Yield the name, the code and the comment of each constant, in reading order."""
    planned = tuple(_planned(plan))
    yield from planned
    known = {name for name, *_ in planned}
    for field, row in FIELDS.items():
        if row.comment and row.constant not in known:
            yield _of(plan.config, field)


def _of(config: RunConfig, field: str) -> tuple[str, str, str]:
    """Return the constant that holds the value of a field."""
    row = FIELDS[field]
    return row.constant, literal(getattr(config, field)), row.comment


def _planned(plan: Plan) -> Iterator[tuple[str, str, str]]:
    each, replicas = plan.per_replica_batch_size, plan.num_replicas_in_sync
    yield _of(plan.config, "seed")
    yield from _device_constants(plan)
    yield "NUM_TRAIN_EXAMPLES", f"{plan.num_train_examples:_}", "examples to train on"
    yield "NUM_TEST_EXAMPLES", f"{plan.num_test_examples:_}", "examples to test on"
    for field in ("synthetic_features", "synthetic_noise", "data_dir"):
        yield _of(plan.config, field)
    yield "PER_REPLICA_BATCH_SIZE", repr(each), "examples that each replica takes in a step"
    sizes = f"{each} x {replicas} replica{'s' * (replicas > 1)}"
    yield "GLOBAL_BATCH_SIZE", repr(plan.global_batch_size), sizes
    yield "EPOCHS", repr(plan.epochs), FIELDS["epochs"].comment
    yield "STEPS_PER_EPOCH", repr(plan.steps_per_epoch), _after_semicolon(plan.arithmetic)
    passes = -(-plan.steps_per_epoch * plan.examples_per_step // plan.num_train_examples)
    yield "PASSES_PER_EPOCH", repr(passes), "through the training data, rounded up"
    yield "TEST_BATCH_SIZE", repr(plan.test_batch_size), "examples of all replicas in a test step"
    yield "TEST_STEPS", repr(plan.test_steps), "every test example once"
    if plan.optimizer != catalog.COMPILED:
        made = catalog.OPTIMIZERS[plan.optimizer].expression
        yield "OPTIMIZER", made, "called with LEARNING_RATE"
    yield "LEARNING_RATE", repr(plan.learning_rate), _scaling(plan)
    if plan.data in catalog.DATA:
        accuracy = catalog.DATA[plan.data].accuracy
        metric = "".join(part.capitalize() for part in accuracy.split("_"))
        named = f"tf.keras.metrics.{metric if plan.synchronous else accuracy}"
        yield "ACCURACY", named, "1 or 0 for each example"
    yield _of(plan.config, "clip_norm")
    yield "STEPS_PER_STACK", repr(plan.steps_per_stack), "batches in one element of the pipeline"
    in_call = "steps in one call of a graph function"
    if plan.loop == "fit" and plan.synchronous:
        in_call = "divides the steps of an epoch, else Keras 3 trains too many"
    elif plan.pipeline == "indexed" and plan.synchronous:
        in_call += "; a multiple of STEPS_PER_STACK"
    yield "STEPS_PER_EXECUTION", repr(plan.graph_steps), in_call


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
    split = "no effect in one process" if alone else "how training data is split among workers"
    yield "AUTO_SHARD", policy, split
    yield _of(plan.config, "data_files")
    yield "READ_PER_STEP", repr(read_per_step(plan)), _read_per_step(plan)


def _tasks(plan: Plan) -> str:
    servers = sum(task.startswith("ps-") for task in plan.tasks)
    return f'{{"chief": 1, "worker": WORKERS, "ps": {servers}}}'


def _read_per_step(plan: Plan) -> str:
    if plan.workers == 1:
        return "examples read for a step"
    if read_per_step(plan) == plan.global_batch_size:
        return "examples that each worker reads for a step, of which it keeps its part"
    return f"{plan.global_batch_size} / {plan.workers} workers: examples that each reads for a step"


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
        return "independent of the number of replicas"
    factor = "x" if name == "linear" else "x the square root of"
    return f"{base!r} {factor} {plan.num_replicas_in_sync} replicas"


def _after_semicolon(arithmetic: str) -> str:
    return arithmetic.split("; ", 1)[1]
