"""The devices that take part, and the number of replicas on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..fields import LOCAL
from .applicable_fields import check_used
from .launching import is_local
from .plan import CHIEF, EVALUATOR
from .problems import Findings

if TYPE_CHECKING:
    from ..catalog import Strategy
    from ..config import RunConfig
    from ..devices import Devices

MIB = 2**20
CORES_PER_CHIP = {"v2": 2, "v3": 2}
"""Cores of a TPU chip; TensorFlow makes a replica on each. Later chips have one core each."""
MOST_PARTS = 100_000
"""The most replicas, or tasks of a kind: a plan holds the name of each."""
VIRTUAL_GPU_SHARE = 0.9
"""The part of a GPU's memory that virtual replicas share; the rest is for CUDA itself."""
ON_ONE_DEVICE = (
    "Gradients are summed by ReductionToOneDevice, because TensorFlow's default, collective "
    "all-reduce, fails on virtual devices in a custom loop."
)
"""A note on the plan that asks nothing of the user."""


@dataclass(frozen=True)
class Placement:
    """Replicas on devices."""

    physical: tuple[str, ...]
    replicas: int
    gpu_memory: str | int
    cross_device_ops: str
    notes: tuple[str, ...] = ()
    workers: int = 1
    parameter_servers: int = 0
    evaluator: bool = False
    synchronous: bool = True
    """Whether all workers step together; else a chief gives each worker its own steps."""
    local: bool = True
    """Whether the workers share this machine's devices; else each worker has all of `physical`."""

    @property
    def kind(self) -> str:
        """`CPU` or `GPU`."""
        return self.physical[0].split(":")[0]

    @property
    def virtual(self) -> bool:
        """Whether replicas share a physical device."""
        hosts = 1 if self.local else self.workers
        return self.kind != "TPU" and self.replicas > len(self.physical) * hosts

    @property
    def workers_in_step(self) -> int:
        """Workers that share the batch of a step."""
        return self.workers if self.synchronous else 1

    @property
    def local_replicas(self) -> int:
        """Replicas of each worker."""
        return self.replicas // self.workers

    @property
    def logical(self) -> tuple[str, ...]:
        """A device name for each replica, counted from 0 in each worker as TensorFlow counts."""
        names = [f"{self.kind}:{number}" for number in range(self.local_replicas)]
        if self.workers == 1:
            return tuple(names)
        return tuple(f"worker-{at}/{name}" for at in range(self.workers) for name in names)

    @property
    def tasks(self) -> tuple[str, ...]:
        """The run's tasks; the first task leads."""
        workers = tuple(f"worker-{number}" for number in range(self.workers))
        if self.synchronous:
            return workers
        servers = tuple(f"ps-{number}" for number in range(self.parameter_servers))
        return (CHIEF, *workers, *servers, *([EVALUATOR] if self.evaluator else []))


def place(
    findings: Findings, config: RunConfig, devices: Devices, strategy: Strategy | None
) -> Placement | None:
    """Choose devices and replicas, or note why that is impossible."""
    chosen = _chosen_devices(findings, config, devices)
    if not chosen or strategy is None:
        return None
    check_used(findings, config, strategy)
    if strategy.tpu:
        return _place_tpu(findings, config, devices)
    if strategy.workers:
        return _place_workers(findings, config, devices, strategy, chosen)
    if strategy.mirrors:
        usual = 2 if chosen[0].startswith("CPU") else len(chosen)
        asked = config.replicas if config.replicas is not None else usual
        replicas = max(asked, 1)
        _check_replicas(findings, replicas, chosen)
        chosen = chosen[:replicas]
    else:
        _check_single(findings, config, chosen)
        chosen, replicas = chosen[:1], 1
    memory = _gpu_memory(findings, config, devices, chosen, replicas)
    operations, notes = _cross_device_ops(findings, config, strategy, chosen, replicas)
    return Placement(chosen, replicas, memory, operations, notes)


def check_countable(findings: Findings, placement: Placement) -> bool:
    """Return whether a plan can name all replicas and tasks; note the fields that ask for more."""
    counts = {
        "replicas": placement.local_replicas,
        "workers": placement.workers,
        "parameter_servers": placement.parameter_servers,
    }
    noted = {problem.field for problem in findings.problems}
    above = {name: count for name, count in counts.items() if count > MOST_PARTS}
    for name, count in above.items():
        if name not in noted:
            fix = f"Set it to {MOST_PARTS} or less."
            findings.add(name, f"at most {MOST_PARTS:,}", f"{count:,}", fix)
    return not above


def _place_tpu(findings: Findings, config: RunConfig, devices: Devices) -> Placement | None:
    """Put a replica on each core. Only the config gives the number of cores of a named TPU."""
    if config.tpu != LOCAL:
        if config.replicas is None:
            rule = f"the number of cores of {config.tpu}, which is unknown here"
            findings.add("replicas", rule, None, "Set it to 8 for a v2-8 or v3-8, for example.")
        return Placement(("TPU:0",), config.replicas or 1, config.gpu_memory, "default")
    if not devices.tpu_chips:
        rule = "one that this machine can run: no TPU here"
        fix = "Choose mirrored, or set tpu to the name of a Cloud TPU."
        findings.add("strategy", rule, config.strategy, fix)
        return None
    if devices.tensorflow_for_tpus is False:
        rule = "one that the interpreter's TensorFlow can run: it was built without TPU support"
        fix = f"Install tensorflow-tpu instead for {devices.interpreter}, or choose mirrored."
        findings.add("strategy", rule, config.strategy, fix)
        return None
    cores = devices.tpu_chips * CORES_PER_CHIP.get(devices.tpu_kind or "", 1)
    if config.replicas not in (None, cores):
        rule = f"{cores}, the cores of this TPU, or empty"
        findings.add("replicas", rule, config.replicas, "Leave it empty.")
    return Placement(("TPU:0",), cores, config.gpu_memory, "default")


def _place_workers(
    findings: Findings,
    config: RunConfig,
    devices: Devices,
    strategy: Strategy,
    chosen: tuple[str, ...],
) -> Placement:
    """Give each worker the CPU, or GPUs of its own."""
    on_gpus, local = chosen[0].startswith("GPU"), is_local(config)
    usual = 2
    if on_gpus and local:
        usual = _usual_parts(len(chosen)) if strategy.synchronous else len(chosen)
    workers = max(1, usual if config.workers is None else config.workers)
    if on_gpus and local:
        chosen = _gpus_of_workers(findings, config, strategy, chosen, workers)
    elif on_gpus and not strategy.synchronous:
        chosen = chosen[:1]
    if config.communication == "nccl" and not on_gpus:
        rule = "auto or ring on CPUs: NCCL needs a GPU in each worker"
        findings.add("communication", rule, "nccl", "Choose ring.")
    replicas = workers
    if on_gpus:
        replicas = max(len(chosen), workers) if local else len(chosen) * workers
    if config.replicas not in (None, replicas):
        rule = f"{replicas} with {workers} workers on {', '.join(chosen)}, or empty"
        findings.add("replicas", rule, config.replicas, "Leave it empty and set workers.")
    memory = _gpu_memory(findings, config, devices, chosen, len(chosen))
    servers = 1 if config.parameter_servers is None else config.parameter_servers
    return Placement(
        chosen,
        replicas,
        memory,
        config.cross_device_ops,
        workers=workers,
        parameter_servers=max(1, servers),
        evaluator=config.evaluator,
        synchronous=strategy.synchronous,
        local=local,
    )


def _usual_parts(gpus: int) -> int:
    """Return into how many equal parts GPUs are divided: as few as possible, but not one."""
    return next((parts for parts in range(2, gpus) if gpus % parts == 0), gpus)


def _gpus_of_workers(
    findings: Findings,
    config: RunConfig,
    strategy: Strategy,
    chosen: tuple[str, ...],
    workers: int,
) -> tuple[str, ...]:
    """Return the GPUs that train.

    Workers that step together get equal parts of all GPUs. Other workers get one GPU each, because
    `open_devices` of the engine gives a worker of ParameterServer one GPU.
    """
    fix = "Change workers, choose other devices, or choose the device CPU:0."
    if strategy.synchronous:
        if len(chosen) % workers:
            rule = f"a number that divides the {len(chosen)} GPUs, which workers do not share"
            if len(chosen) == 1:
                rule = "1 on a single GPU, which workers do not share"
            findings.add("workers", rule, workers, fix)
        return chosen
    if workers > len(chosen):
        rule = f"at most {len(chosen)}, because each worker has its own GPU"
        findings.add("workers", rule, workers, fix)
    elif config.devices and workers < len(chosen):
        rule = f"{workers} GPUs, one for each worker"
        fix = f"Leave {', '.join(chosen[workers:])} out, or set workers to {len(chosen)}."
        findings.add("devices", rule, ", ".join(chosen), fix)
    return chosen[:workers]


def _chosen_devices(
    findings: Findings, config: RunConfig, devices: Devices
) -> tuple[str, ...] | None:
    gpus = tuple(gpu.name for gpu in devices.gpus)
    chosen = config.devices or gpus or ("CPU:0",)
    known = (*gpus, "CPU:0")
    unknown = [name for name in chosen if name not in known]
    if unknown:
        rule = f"devices of this machine ({', '.join(known)})"
        fix = f"Choose {', '.join(gpus or known)}."
        if all(name.startswith("CPU:") for name in chosen):
            fix = "The CPU is one device, CPU:0; set replicas to split it."
        findings.add("devices", rule, ", ".join(unknown), fix)
        return None
    if len(set(chosen)) < len(chosen):
        fix = f"Name each device once: {', '.join(dict.fromkeys(chosen))}."
        findings.add("devices", "a list without repeats", ", ".join(chosen), fix)
        return None
    if len({name.split(":")[0] for name in chosen}) > 1:
        fix = f"Choose from the GPUs ({', '.join(gpus)}), or only CPU:0."
        findings.add("devices", "GPUs only, or the CPU alone", ", ".join(chosen), fix)
        return None
    return chosen


def _check_single(findings: Findings, config: RunConfig, chosen: tuple[str, ...]) -> None:
    if config.replicas not in (None, 1):
        fix = "Set replicas to 1, or choose the strategy mirrored."
        findings.add("replicas", f"1 with the strategy {config.strategy}", config.replicas, fix)
    if config.devices and len(chosen) > 1:
        fix = f"Choose one, such as {chosen[0]}, or the strategy mirrored."
        rule = f"one device with the strategy {config.strategy}"
        findings.add("devices", rule, ", ".join(chosen), fix)


def _check_replicas(findings: Findings, replicas: int, chosen: tuple[str, ...]) -> None:
    if replicas > len(chosen) > 1:
        rule = f"at most one per device, here {len(chosen)}"
        fix = (
            f"Set replicas to {len(chosen)}, or choose a single device to split it into "
            f"{replicas} virtual ones."
        )
        findings.add("replicas", rule, replicas, fix)


def _gpu_memory(
    findings: Findings,
    config: RunConfig,
    devices: Devices,
    chosen: tuple[str, ...],
    replicas: int,
) -> str | int:
    limit, parts = config.gpu_memory, -(-replicas // len(chosen))
    sizes = [gpu.memory_bytes for gpu in devices.gpus if gpu.name in chosen]
    known = [size for size in sizes if size is not None]
    if isinstance(limit, int):
        most = min(known, default=0) // parts // MIB
        if known and limit > most:
            rule = f"at most {most:,} MiB per replica on {', '.join(chosen)}"
            findings.add("gpu_memory", rule, limit, "Set it to less, or to growth.")
    elif sizes and parts > 1:
        if known:
            return int(known[0] * VIRTUAL_GPU_SHARE / parts / MIB)
        rule = "a number of MiB per virtual replica, because the GPU's memory is not known"
        findings.add("gpu_memory", rule, limit, "Set it to 2048, for example.")
    return limit


def _cross_device_ops(
    findings: Findings,
    config: RunConfig,
    strategy: Strategy,
    chosen: tuple[str, ...],
    replicas: int,
) -> tuple[str, tuple[str, ...]]:
    name, on_cpu = config.cross_device_ops, chosen[0].startswith("CPU")
    virtual = replicas > len(chosen)
    if name == "nccl" and strategy.reduces and (on_cpu or virtual):
        what = "CPU devices" if on_cpu else "virtual devices of one GPU"
        rule = f"another operation on {what}: NCCL needs real GPUs, one for each replica"
        fix = "Choose reduction_to_one_device, or real GPUs under devices."
        findings.add("cross_device_ops", rule, name, fix)
    if name == "default" and virtual and strategy.reduces:
        return "reduction_to_one_device", (ON_ONE_DEVICE,)
    return name, ()
