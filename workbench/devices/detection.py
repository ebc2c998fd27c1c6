"""Detection of devices: facts from the machine joined with the interpreter's report."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.devices import holders, machine, nvidia, tpu
from workbench.devices.child import Begin, Report, ask, start_cold
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
    begin: Begin = start_cold,
) -> Devices:
    """Return the devices on this machine that an interpreter can train on.

    A short-lived child of the interpreter lists the devices and initialises none. This process
    does not import TensorFlow. With a TPU and a TPU build, the child does not import it either,
    because the import alone would take the TPU from a run.

    Args:
        interpreter: the Python that will train; None means the Python of this process.
        timeout_seconds: the time after which the child is killed.
        import_tensorflow: False makes a quick check, which takes the versions from the installed
            packages and the GPUs from the driver.
        root: the folder that stands for `/` when device and system files are read.
        environment: the run's environment variables; None means those of this process.
        nvml: the `pynvml` module; None imports it if it is installed.
        begin: starts the child.

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
        begin,
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
    """Return the GPUs in the order of TensorFlow's list.

    TensorFlow's list has no memory sizes, so these come from the driver.
    """
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
