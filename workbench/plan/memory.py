"""The memory that a run needs at least, compared with the memory of its hosts and devices.

Every size is a lower bound in bytes: it counts only what must be in memory at the same time. So a
run that is refused cannot fit, while a run that is planned may still need more. What is unknown
counts as nothing, and unknown memory refuses nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .. import catalog
from ..units import byte_size
from .launching import is_local
from .placement import MIB
from .plan import DATASET

if TYPE_CHECKING:
    from ..config import RunConfig
    from ..devices import Devices
    from .batches import Batches
    from .placement import Placement
    from .plan import DataFacts
    from .problems import Findings

TENSORFLOW_BYTES = 180 * MIB
"""Memory of an imported TensorFlow that all processes of a run may share (measured: 250 MiB)."""
PROCESS_BYTES = 64 * MIB
"""Memory that each process has for itself (measured: 70 MiB and more)."""
REPLICA_BYTES = 8 * MIB
"""Memory of the graphs of a replica on a CPU, without weights and batches (measured: 11 MiB)."""
BATCHES = 2
"""Batches in memory during a step: the one in use, and the next one, which is made meanwhile.

A stack of several batches is no larger than STACK_BYTES, so it changes no limit."""
PREFETCHED = {"usual": 1}
"""Batches that a pipeline has ready besides, as it makes them faster than a CPU takes steps."""
SHUFFLED_BYTES = 192
"""Memory of an example in a shuffle buffer, besides its numbers (measured: 280)."""
ROW_BYTES = 128
"""Memory of a step's results, which a call keeps until it ends (measured: 210)."""
NUMBER_BYTES = {"float64": 8, "mixed_bfloat16": 2, "mixed_float16": 2}
"""Bytes of a number that a step computes; 4 with other precisions."""


@dataclass(frozen=True)
class Sizes:
    """The numbers of a config that decide its memory."""

    examples: int
    features: int
    batch: int
    """Examples of a step, of all replicas if `Need.shared`, else of each."""
    replicas: int
    """Replicas of each worker."""
    workers: int
    servers: int
    call_steps: int


@dataclass(frozen=True)
class Need:
    """The memory that a run needs at least, as a function of its sizes."""

    config: RunConfig
    placement: Placement
    data: catalog.Data
    facts: DataFacts | None
    cores: int

    @property
    def shared(self) -> bool:
        """Whether the replicas share a batch whose size is given for all of them."""
        return self.config.global_batch_size is not None

    @property
    def local(self) -> bool:
        """Whether all tasks share this machine's memory; else each task has its own."""
        return is_local(self.config)

    def host(self, sizes: Sizes) -> int:
        """Return the bytes of the processes that share a memory."""
        workers = sizes.workers if self.local else 1
        others = 0
        if self.local and not self.placement.synchronous:
            others = 1 + sizes.servers + self.placement.evaluator
        stored = self._stored(sizes)
        training = workers * self._worker(sizes)
        if self.placement.kind == "CPU":
            training += self._models(sizes, workers)
            busy = min(workers * sizes.replicas, max(1, self.cores))
            training += busy * self._step(sizes)
        # A worker that starts holds all copies, when the others may already hold only one.
        starting = (workers - 1 + self.data.copies) * stored
        return TENSORFLOW_BYTES + PROCESS_BYTES * (workers + others) + max(training, starting)

    def replica(self, sizes: Sizes) -> int:
        """Return the bytes of a replica on a device with memory of its own."""
        batch = self._each(sizes) * self._example_bytes(sizes)
        row = catalog.STRATEGIES[self.config.strategy]
        models = 0 if row.mirrors and not row.reduces else self._model(sizes)
        return batch + self._step(sizes) + models * self.placement.synchronous

    def in_step(self, sizes: Sizes) -> int:
        """Return the replicas that share the batch of a step."""
        return sizes.replicas * sizes.workers if self.placement.synchronous else 1

    @property
    def _in_memory(self) -> bool:
        """Whether each process that trains holds all examples in memory."""
        return self.facts is None or self.facts.kind != DATASET

    def _each(self, sizes: Sizes) -> int:
        """Return the examples of a replica in a step."""
        return sizes.batch // self.in_step(sizes) if self.shared else sizes.batch

    def _example_bytes(self, sizes: Sizes) -> int:
        if self.facts is not None:
            # Facts that were read from a script name no example and overstate its bytes.
            return self.facts.example_bytes if self.facts.example else 0
        return 4 * (self.data.features or sizes.features) + self.data.label_bytes

    def _stored(self, sizes: Sizes) -> int:
        """Return the bytes of all examples in the memory of a process."""
        if not self._in_memory:
            return 0
        return (sizes.examples + self.data.tests(sizes.examples)) * self._example_bytes(sizes)

    def _worker(self, sizes: Sizes) -> int:
        """Return the bytes that each process that trains holds during a step, without its model."""
        example = self._example_bytes(sizes)
        batches = BATCHES
        if self.placement.kind == "CPU" and self._in_memory:
            batches += PREFETCHED.get(self.config.pipeline, 0)
        held = self._stored(sizes) + batches * self._each(sizes) * sizes.replicas * example
        if self.config.pipeline in ("files", "numpy"):
            readers = sizes.workers if self.config.pipeline == "files" else 1
            held += sizes.examples // readers * (example + SHUFFLED_BYTES)
        return held + sizes.call_steps * ROW_BYTES

    def _models(self, sizes: Sizes, workers: int) -> int:
        row = catalog.STRATEGIES[self.config.strategy]
        replicas = workers * sizes.replicas
        copies = replicas if row.reduces else workers if row.synchronous else 1
        return copies * self._model(sizes) + replicas * REPLICA_BYTES

    def _model(self, sizes: Sizes) -> int:
        """Return the bytes of the weights, their gradient and the optimizer's slots."""
        row = self._known_model
        if row is None:
            return 0
        optimizer = catalog.OPTIMIZERS.get(self.config.optimizer or "adam")
        weights = row.weights + row.weights_per_feature * (self.data.features or sizes.features)
        number = 8 if self.config.precision == "float64" else 4
        return weights * number * (2 + (optimizer.slots if optimizer else 0))

    def _step(self, sizes: Sizes) -> int:
        """Return the bytes of the outputs and gradients that a replica holds during a step."""
        row = self._known_model
        if row is None or self.config.xla or self.config.step is not None:
            return 0  # a compiler, or the user's step, may keep less
        return self._each(sizes) * row.step_numbers * NUMBER_BYTES.get(self.config.precision, 4)

    @property
    def _known_model(self) -> catalog.Model | None:
        return catalog.MODELS.get(self.config.model or self.data.model)


@dataclass(frozen=True)
class Limit:
    """A memory in bytes, what a run needs of it, and its name in words."""

    memory: int
    bytes_of: Callable[[Sizes], int]
    what: str

    def holds(self, sizes: Sizes) -> bool:
        """Return whether a run of these sizes may fit."""
        return self.bytes_of(sizes) <= self.memory


def check_memory(
    findings: Findings,
    config: RunConfig,
    devices: Devices,
    placement: Placement,
    data: catalog.Data,
    batches: Batches,
    facts: DataFacts | None,
) -> None:
    """Note each field whose value needs more memory than the hosts or the devices have."""
    cores = devices.cpu_cores if is_local(config) else config.cpus_per_task or 1
    need = Need(config, placement, data, facts, cores)
    sizes = _sizes(need, config, batches)
    if min(vars(sizes).values()) < 0:
        return
    whose = "this machine's" if need.local else "a task's"
    for memory, bytes_of, what in (
        (devices.memory_bytes, need.host, f"{whose} {{}} of memory"),
        (_device_bytes(devices, placement), need.replica, "each replica's {} of GPU memory"),
    ):
        if memory is not None:
            limit = Limit(memory, bytes_of, what.format(byte_size(memory)))
            for field, lowered in _causes(need, sizes, limit).items():
                _note(findings, need, limit, field, sizes, lowered)


def _sizes(need: Need, config: RunConfig, batches: Batches) -> Sizes:
    examples = need.data.train_examples or config.synthetic_examples
    asked = batches.in_all if need.shared else batches.per_replica
    batch = asked
    if config.last_batch != "repeat":
        batch = min(asked, max(1, examples if need.shared else examples // batches.replicas))
    steps = config.steps_per_epoch or max(1, examples // batches.in_all)
    call = steps if isinstance(config.steps_per_call, str) else config.steps_per_call or 1
    return Sizes(
        examples=examples,
        features=config.synthetic_features,
        batch=batch,
        replicas=need.placement.local_replicas,
        workers=need.placement.workers,
        servers=need.placement.parameter_servers,
        call_steps=min(call, steps),
    )


def _device_bytes(devices: Devices, placement: Placement) -> int | None:
    """Return the memory of a replica's GPU, the least if they differ; None if it is unknown."""
    if placement.kind != "GPU":
        return None
    if isinstance(placement.gpu_memory, int):
        return placement.gpu_memory * MIB
    known = [gpu.memory_bytes for gpu in devices.gpus if gpu.name in placement.physical]
    return min((size for size in known if size is not None), default=None)


def _fields(need: Need) -> dict[str, str]:
    """Return the fields of the config that can be lowered, each with its name in `Sizes`."""
    config, strategy = need.config, catalog.STRATEGIES[need.config.strategy]
    fields = {
        "global_batch_size" if need.shared else "per_replica_batch_size": ("batch", True),
        "synthetic_examples": ("examples", config.data == "synthetic"),
        "synthetic_features": ("features", config.data == "synthetic"),
        "replicas": ("replicas", strategy.mirrors),
        "workers": ("workers", strategy.workers and need.local),
        "parameter_servers": ("servers", not strategy.synchronous and need.local),
        "steps_per_call": ("call_steps", config.steps_per_call is not None),
    }
    return {field: size for field, (size, used) in fields.items() if used}


def _causes(need: Need, sizes: Sizes, limit: Limit) -> dict[str, Sizes]:
    """Return the fewest fields that must be lowered, each with the least values of the others.

    Empty if a run does not fit with the least values either: then no field is wrong.
    """
    fields, lowered, causes = _fields(need), sizes, list[str]()
    while not limit.holds(lowered):
        least = {
            field: replace(lowered, **{size: 1})
            for field, size in fields.items()
            if getattr(lowered, size) > 1
        }
        if not least:
            return {}
        causes.append(min(least, key=lambda field: limit.bytes_of(least[field])))
        lowered = least[causes[-1]]
    return dict.fromkeys(causes, lowered)


def _note(
    findings: Findings, need: Need, limit: Limit, field: str, sizes: Sizes, lowered: Sizes
) -> None:
    """Note a field, with its largest value beside the values of the others in `lowered`."""
    if any(problem.field == field for problem in findings.problems):
        return
    size = _fields(need)[field]

    def beside(value: int) -> Sizes:
        return replace(lowered, **{size: value})

    value = getattr(sizes, size)
    most = _largest(value, lambda number: limit.holds(beside(number)))
    if field == "global_batch_size":
        most = max(most // need.in_step(sizes), 1) * need.in_step(sizes)
    rule = f"at most {most:,}, because more does not fit into {limit.what}"
    got = f"{value:,}, which needs at least {byte_size(limit.bytes_of(beside(value)))}"
    fix = f"Set it to {most} or less. Close to this limit, memory may still run out."
    findings.add(field, rule, got, fix)


def _largest(above: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number below `above` that fits; 1 fits, and `above` does not."""
    low, high = 1, above
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
