"""What a launcher asks of a config, and the devices planned for the hosts of an engine."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from .. import catalog
from ..config import USUAL
from ..devices import Gpu
from ..fields import FIELDS, KUBERNETES, LOCAL, NOT_IN_SCRIPTS, OF_LAUNCHERS
from .applicable_fields import without_unused

if TYPE_CHECKING:
    from ..config import RunConfig
    from ..devices import Devices
    from .problems import Findings

REHEARSED_WORKERS = (2, 4)
REHEARSED_RESTARTS = 100


def for_anywhere(config: RunConfig) -> RunConfig:
    """Return the config with default values in the fields of `NOT_IN_SCRIPTS`, except its name."""
    usual = {name: getattr(USUAL, name) for name in NOT_IN_SCRIPTS if name != "name"}
    return dataclasses.replace(config, **usual)


def is_local(config: RunConfig) -> bool:
    """Return whether the run's tasks are processes of this machine."""
    return config.launcher == LOCAL


def runs_on(config: RunConfig) -> str:
    """Return the engine of a run in words, with its nodes and each task's share as far as set.

    It is empty for a run on this machine.
    """
    if is_local(config):
        return ""
    shares = [_counted(config.cpus_per_task, "CPU"), _counted(config.gpus_per_task, "GPU")]
    each = " and ".join(filter(None, [*shares, _counted(config.tpus_per_task, "TPU chip")]))
    parts = [
        catalog.LAUNCHERS[config.launcher].label,
        config.ray_address and f"cluster {config.ray_address}",
        _counted(config.nodes, "node"),
        config.partition and f"partition {config.partition}",
        each and f"{each} per task",
    ]
    return ", ".join(part for part in parts if part)


def _counted(count: int | None, name: str) -> str:
    return f"{count} {name}{'s' * (count > 1)}" if count else ""


def rehearsed(config: RunConfig) -> RunConfig:
    """Return the config of a rehearsal of a config, with two to four workers on this machine.

    The strategy is MultiWorkerMirrored, except that ParameterServer stays, because it has tasks of
    its own. A chief's worker that is killed starts again alone. If any other task is killed, all
    tasks start again from the checkpoint.
    """
    led = config.strategy == "parameter_server"
    strategy = config.strategy if led else "multi_worker_mirrored"
    least, most = REHEARSED_WORKERS
    usual = {name: getattr(USUAL, name) for name in (*OF_LAUNCHERS, "devices", "replicas")}
    return dataclasses.replace(
        without_unused(config, catalog.STRATEGIES[strategy]),
        **usual | {"restarts": REHEARSED_RESTARTS},
        launcher=LOCAL,
        strategy=strategy,
        workers=min(max(config.workers or 0, least), most),
    )


def rehearsal_in_words(config: RunConfig) -> str:
    """Return what the rehearsal of a config changes in the config, in words."""
    after = rehearsed(config)
    changes = [
        f"{name.replace('_', ' ')} {_in_words(name, new)}"
        + (f" instead of {_in_words(name, old)}" if old else "")
        for name in (field.name for field in dataclasses.fields(config))
        if (old := getattr(config, name)) != (new := getattr(after, name))
    ]
    return (
        "The rehearsal trains this config with several processes on this machine. It changes: "
        f"{', '.join(changes)}. Everything else stays the same."
    )


def _in_words(name: str, value: object) -> str:
    choice = catalog.CHOICES.get(name, {}).get(str(value))
    return choice.label if choice else str(value or "not set")


def check_launcher(findings: Findings, config: RunConfig) -> None:
    """Note fields that do not fit the launcher."""
    known = config.launcher in catalog.LAUNCHERS
    for name in OF_LAUNCHERS if known else ():
        launchers, value = FIELDS[name].launchers, getattr(config, name)
        if config.launcher not in launchers and value != getattr(USUAL, name):
            rule = f"empty with the launcher {config.launcher}, which does not use it"
            fix = f"Leave it empty, or choose the launcher {' or '.join(launchers)}."
            findings.add(name, rule, value, fix)
    if is_local(config):
        return
    if config.strategy == "tpu" and config.launcher != KUBERNETES:
        fix = "Choose the launcher local on a TPU VM, or kubernetes."
        findings.add("launcher", "local or kubernetes for a TPU", config.launcher, fix)
    if config.launcher == KUBERNETES:
        _check_kubernetes(findings, config)
    if config.launcher == "ray" and config.strategy == "parameter_server":
        fix = "Choose the launcher slurm or local, or the strategy multi_worker_mirrored."
        rule = "slurm, kubernetes or local for ParameterServer: Ray gives all tasks the same work"
        findings.add("launcher", rule, "ray", fix)
    if (config.ray_address or "").startswith("ray://"):
        fix = "Start the workbench on a node of the cluster and give host:port."
        findings.add(
            "ray_address",
            "host:port, because Ray Train does not work with ray://",
            config.ray_address,
            fix,
        )
    for name in OF_LAUNCHERS:
        value = getattr(config, name)
        is_a_name = getattr(USUAL, name) is None and isinstance(value, str)
        if is_a_name and len(value.splitlines()) > 1:
            findings.add(name, "one line", value, "Write the name alone.")


def _check_kubernetes(findings: Findings, config: RunConfig) -> None:
    needs = {
        "container": "Name an image with Python and TensorFlow, such as "
        "tensorflow/tensorflow:2.20.0.",
        "volume_claim": "Name the PersistentVolumeClaim that pods and this machine share.",
    }
    for name, fix in needs.items():
        if not getattr(config, name):
            findings.add(name, "set with the launcher kubernetes", "nothing", fix)
    for part in (config.node_selector or "").split(","):
        key, equals, _ = part.partition("=")
        if part.strip() and not (key.strip() and equals):
            fix = "Write kubernetes.io/arch=amd64, for example."
            findings.add("node_selector", "key=value pairs, separated by commas", part.strip(), fix)
    if (config.volume_path or "").startswith("/") or ".." in (config.volume_path or "").split("/"):
        fix = "Give the path relative to the volume's root, without a leading slash."
        findings.add("volume_path", "a path inside the volume", config.volume_path, fix)
    if config.strategy == "tpu" and not config.tpus_per_task:
        fix = "Set it to the chips of a node, such as 4, or choose another strategy."
        findings.add("tpus_per_task", "1 or more with the strategy tpu", config.tpus_per_task, fix)


def devices_of_a_task(config: RunConfig, devices: Devices) -> Devices:
    """Return the devices of each task: this machine's, or the devices asked of the engine.

    Elsewhere only the memory that is asked for is known.
    """
    if is_local(config):
        return devices
    asked = range(max(0, config.gpus_per_task or 0))
    # Only their names are known.
    gpus = tuple(Gpu(f"GPU:{at}", None, None, None) for at in asked)
    tpus = config.tpus_per_task or 0
    gib = config.memory_gib_per_task
    memory_bytes = None if gib is None else gib * 2**30
    return dataclasses.replace(
        devices, memory_bytes=memory_bytes, gpus=gpus, tpu_chips=tpus, tpu_kind=None
    )
