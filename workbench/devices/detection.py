"""Put together what the machine shows and what the run's interpreter says."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.devices import holders, machine, nvidia, tpu
from workbench.devices.child import Report, ask
from workbench.devices.nvidia import NvidiaGpu
from workbench.devices.problems import Evidence, cpu_only, for_tpus, found_problems
from workbench.devices.records import Devices, Gpu


def detect(
    interpreter: str | None = None,
    timeout_seconds: float = 300,
    import_tensorflow: bool = True,
    *,
    root: Path = Path("/"),
    environment: Mapping[str, str] | None = None,
    nvml: Any = None,
) -> Devices:
    """Return what an interpreter can train on, on this machine.

    A short-lived child of the interpreter lists the devices and initialises none; nothing is
    imported here. Where a TPU is present and a TPU build of TensorFlow installed, the child does
    not import it either, because that alone would take the TPU from a run.

    Args:
        interpreter: the Python that will train; None is the one that runs this.
        timeout_seconds: the child is killed after this.
        import_tensorflow: False is the quick look: versions as installed, GPUs by the driver.
        root: the folder that stands for `/` when device and system files are read.
        environment: the run's environment variables; None is this process's.
        nvml: the `pynvml` module; None imports it where it is installed.

    Raises:
        DeviceError: the interpreter does not exist, is no Python, crashed, or took too long.
    """
    variables = dict(os.environ if environment is None else environment)
    chips = tpu.find(root, variables)
    mode = "import-unless-tpu" if chips.chips else "import"
    report = ask(
        interpreter or sys.executable,
        mode if import_tensorflow else "metadata",
        timeout_seconds,
        variables,
    )
    listed = nvidia.driver_gpus(root, nvml)
    evidence = Evidence(
        report=report,
        nvidia=listed,
        visible=nvidia.visible(listed, variables),
        nvidia_on_bus=nvidia.pci_count(root),
        tpu=chips,
        environment=variables,
        tpu_holders=holders.find(root, tpu.device_files(root)) if chips.chips else (),
    )
    return Devices(
        cpu_model=machine.cpu_model(root),
        cpu_cores=machine.cpu_cores(root),
        memory_bytes=machine.memory_bytes(root),
        gpus=_gpus(report, listed, evidence.visible),
        tpu_chips=chips.chips,
        tpu_kind=chips.kind,
        interpreter=report.interpreter,
        python_version=report.python_version,
        tensorflow_version=_tensorflow_version(report),
        keras_version=report.keras,
        tf_keras_version=report.tf_keras,
        problems=found_problems(evidence),
        tensorflow_for_tpus=for_tpus(report),
    )


def _gpus(
    report: Report, driver: tuple[NvidiaGpu, ...], visible: tuple[NvidiaGpu, ...]
) -> tuple[Gpu, ...]:
    """Name the GPUs by TensorFlow's list, which knows no memory; the driver does."""
    if report.imported is not None:
        return tuple(
            Gpu(f"GPU:{index}", model, nvidia.memory_of(model, driver), capability)
            for index, (model, capability) in enumerate(report.imported.gpus)
        )
    if not report.tensorflow_found or report.import_error is not None or cpu_only(report):
        return ()
    return tuple(
        Gpu(f"GPU:{index}", gpu.model, gpu.memory_bytes, gpu.compute_capability)
        for index, gpu in enumerate(visible)
    )


def _tensorflow_version(report: Report) -> str | None:
    if report.imported is not None:
        return report.imported.version
    return next(iter(report.distributions.values()), None) if report.tensorflow_found else None
