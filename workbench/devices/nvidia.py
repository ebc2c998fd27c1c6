"""NVIDIA GPUs as the driver shows them, even if no TensorFlow can use them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_VENDOR = "0x10de"
_DISPLAY_CLASS = "0x03"


@dataclass(frozen=True)
class NvidiaGpu:
    """One GPU of the driver; None is unknown."""

    model: str | None
    memory_bytes: int | None = None
    compute_capability: str | None = None
    uuid: str | None = None


def driver_gpus(root: Path = Path("/"), library: Any = None) -> tuple[NvidiaGpu, ...]:
    """Return the driver's GPUs in PCI order: from NVML, otherwise from the driver's own files.

    Args:
        root: the folder that stands for `/`.
        library: the `pynvml` module; None imports it if it is installed.
    """
    listed = nvml_gpus(library)
    return _gpus_in_proc(root) if listed is None else listed


def nvml_gpus(library: Any = None) -> tuple[NvidiaGpu, ...] | None:
    """Return NVML's GPUs in PCI order; None if nvidia-ml-py or a working driver is missing."""
    nvml = library or load_nvml()
    if nvml is None:
        return None
    try:
        nvml.nvmlInit()
    except nvml.NVMLError:
        return None
    try:
        return tuple(
            _described(nvml, nvml.nvmlDeviceGetHandleByIndex(index))
            for index in range(nvml.nvmlDeviceGetCount())
        )
    except nvml.NVMLError:
        return None
    finally:
        nvml.nvmlShutdown()


def load_nvml() -> Any:
    """Return the `pynvml` module of nvidia-ml-py; None if it is not installed."""
    try:
        return importlib.import_module("pynvml")
    except ImportError:
        return None


def pci_count(root: Path = Path("/")) -> int:
    """Return the number of NVIDIA GPUs on the PCI bus, with or without a driver."""
    count = 0
    for folder in (root / "sys/bus/pci/devices").glob("*"):
        vendor, kind = _line(folder / "vendor"), _line(folder / "class")
        count += vendor == _VENDOR and kind.startswith(_DISPLAY_CLASS)
    return count


def visible(gpus: tuple[NvidiaGpu, ...], environment: Mapping[str, str]) -> tuple[NvidiaGpu, ...]:
    """Return the GPUs that CUDA shows to a process, in CUDA's order.

    `CUDA_VISIBLE_DEVICES` is read as CUDA reads it: a list of indices or UUIDs, which ends before
    the first entry that names no GPU. CUDA numbers the fastest GPU first unless
    `CUDA_DEVICE_ORDER` is `PCI_BUS_ID`. So if the GPUs differ, an index does not identify a GPU,
    and the values of that GPU are unknown.
    """
    in_pci_order = environment.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID"
    alike = len({(gpu.model, gpu.memory_bytes) for gpu in gpus}) <= 1
    numbered = gpus if in_pci_order or alike else (NvidiaGpu(model=None),) * len(gpus)
    selection = environment.get("CUDA_VISIBLE_DEVICES")
    if selection is None:
        return numbered
    chosen: list[NvidiaGpu] = []
    for word in (part.strip() for part in selection.split(",")):
        found = _named(word, gpus, numbered)
        if found is None:
            break
        chosen.append(found)
    return tuple(chosen)


def memory_of(model: str | None, gpus: tuple[NvidiaGpu, ...]) -> int | None:
    """Return the memory of each GPU of a model, in bytes; None if sizes differ or none is known."""
    sizes = {gpu.memory_bytes for gpu in gpus if gpu.model == model and model is not None}
    return sizes.pop() if len(sizes) == 1 else None


def _named(
    word: str, gpus: tuple[NvidiaGpu, ...], numbered: tuple[NvidiaGpu, ...]
) -> NvidiaGpu | None:
    if word.isdigit():
        return numbered[int(word)] if int(word) < len(numbered) else None
    if word.startswith("MIG-"):
        return NvidiaGpu(model=None)
    named = [gpu for gpu in gpus if word.startswith("GPU-") and (gpu.uuid or "").startswith(word)]
    return named[0] if len(named) == 1 else None


def _described(nvml: Any, handle: Any) -> NvidiaGpu:
    major_minor = nvml.nvmlDeviceGetCudaComputeCapability(handle)
    memory = supported(nvml, nvml.nvmlDeviceGetMemoryInfo, handle)
    return NvidiaGpu(
        model=nvml_text(nvml.nvmlDeviceGetName(handle)),
        memory_bytes=None if memory is None else int(memory.total),
        compute_capability=".".join(str(number) for number in major_minor),
        uuid=nvml_text(nvml.nvmlDeviceGetUUID(handle)),
    )


def supported(nvml: Any, read: Callable[[Any], Any], handle: Any) -> Any:
    """Return a reading; None if this GPU has none (a slice of a GPU has no utilisation)."""
    try:
        return read(handle)
    except nvml.NVMLError_NotSupported:
        return None


def nvml_text(value: str | bytes) -> str:
    """Return text from NVML as `str`; older bindings give bytes."""
    return value.decode() if isinstance(value, bytes) else value


def _gpus_in_proc(root: Path) -> tuple[NvidiaGpu, ...]:
    found = []
    for path in sorted((root / "proc/driver/nvidia/gpus").glob("*/information")):
        lines = [line.split(":", 1) for line in path.read_text().splitlines() if ":" in line]
        values = {key.strip(): value.strip() for key, value in lines}
        found.append(NvidiaGpu(model=values.get("Model"), uuid=values.get("GPU UUID")))
    return tuple(found)


def _line(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
