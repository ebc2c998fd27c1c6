"""The current usage of the machine, measured by psutil and, if installed, nvidia-ml-py."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from workbench.devices import cgroups
from workbench.devices.nvidia import load_nvml, nvml_text, supported


@dataclass(frozen=True)
class GpuUsage:
    """The usage of one GPU of the driver, in PCI order; None is unknown."""

    name: str
    utilisation_percent: float | None
    """The share of the last sample period in which any kernel ran, 0 to 100."""
    memory_used_bytes: int | None
    memory_total_bytes: int | None
    temperature_celsius: float | None


@dataclass(frozen=True)
class Usage:
    """One measurement of the machine; None is unknown."""

    cpu_percent: float | None
    """Busy share of all cores since the last measurement, 0 to 100; None in the first one."""
    memory_used_bytes: int
    memory_total_bytes: int
    """RAM, or the container's limit if it is lower; used bytes refer to the same total."""
    gpus: tuple[GpuUsage, ...]
    """Empty also if there is no driver or nvidia-ml-py is not installed."""
    process_memory_bytes: int | None
    """Resident memory of the requested processes; None if none of them can be seen."""


class UsageMeter:
    """A meter for repeated measurements of the machine; threads can share it safely.

    NVML stays open after the first measurement that finds it, because opening it again can take a
    second. NVML holds no memory on a GPU and makes no CUDA context.
    """

    def __init__(self, nvml: Any = None, root: Path = Path("/")) -> None:
        """Keep the `pynvml` module (None: import it if installed) and the folder used as `/`."""
        self._nvml = nvml
        self._root = root
        self._nvml_is_open = False
        self._cpu_seconds: tuple[float, float] | None = None
        self._lock = threading.Lock()

    def measure(self, pids: Sequence[int] = ()) -> Usage:
        """Return the current usage; `pids` are the processes whose memory is added up."""
        with self._lock:
            used_bytes, total_bytes = _memory(self._root)
            return Usage(
                cpu_percent=self._cpu_percent(),
                memory_used_bytes=used_bytes,
                memory_total_bytes=total_bytes,
                gpus=self._gpus(),
                process_memory_bytes=_process_memory_bytes(pids),
            )

    def close(self) -> None:
        """Close NVML; the next measurement opens it again."""
        with self._lock:
            if self._nvml_is_open:
                self._nvml.nvmlShutdown()
                self._nvml_is_open = False

    def _cpu_percent(self) -> float | None:
        times = psutil.cpu_times()
        idle = times.idle + getattr(times, "iowait", 0.0)
        guest = getattr(times, "guest", 0.0) + getattr(times, "guest_nice", 0.0)
        total = sum(times) - guest
        before, self._cpu_seconds = self._cpu_seconds, (total, idle)
        if before is None or total <= before[0]:
            return None
        idle_share = (idle - before[1]) / (total - before[0])
        return min(100.0, max(0.0, 100 * (1 - idle_share)))

    def _gpus(self) -> tuple[GpuUsage, ...]:
        if not self._open_nvml():
            return ()
        try:
            return tuple(
                _gpu_usage(self._nvml, self._nvml.nvmlDeviceGetHandleByIndex(index))
                for index in range(self._nvml.nvmlDeviceGetCount())
            )
        except self._nvml.NVMLError:
            self._nvml_is_open = False
            return ()

    def _open_nvml(self) -> bool:
        if self._nvml is None:
            self._nvml = load_nvml()
        if self._nvml is None or self._nvml_is_open:
            return self._nvml_is_open
        try:
            self._nvml.nvmlInit()
        except self._nvml.NVMLError:
            return False
        self._nvml_is_open = True
        return True


_shared_meter = UsageMeter()


def measure(pids: Sequence[int] = ()) -> Usage:
    """Return the current usage of the machine.

    The CPU usage covers the time since the last call by any caller in this process.

    Args:
        pids: processes whose resident memory is added up; ended processes are left out.
    """
    return _shared_meter.measure(pids)


def _gpu_usage(nvml: Any, handle: Any) -> GpuUsage:
    memory = supported(nvml, lambda each: _gpu_memory(nvml, each), handle)
    rates = supported(nvml, nvml.nvmlDeviceGetUtilizationRates, handle)
    sensor = nvml.NVML_TEMPERATURE_GPU
    degrees = supported(nvml, lambda each: nvml.nvmlDeviceGetTemperature(each, sensor), handle)
    return GpuUsage(
        name=nvml_text(nvml.nvmlDeviceGetName(handle)),
        utilisation_percent=None if rates is None else float(rates.gpu),
        memory_used_bytes=None if memory is None else int(memory.used),
        memory_total_bytes=None if memory is None else int(memory.total),
        temperature_celsius=None if degrees is None else float(degrees),
    )


def _gpu_memory(nvml: Any, handle: Any) -> Any:
    """Return the memory of a GPU as `nvidia-smi` shows it.

    The first version of this reading counts the driver's own reserve as used, 615 MiB on an H200.
    Older drivers and bindings have only that version.
    """
    if hasattr(nvml, "nvmlMemory_v2"):
        with contextlib.suppress(nvml.NVMLError_FunctionNotFound):
            return nvml.nvmlDeviceGetMemoryInfo(handle, version=nvml.nvmlMemory_v2)
    return nvml.nvmlDeviceGetMemoryInfo(handle)


def _memory(root: Path) -> tuple[int, int]:
    """Return used and total bytes of the container if it is limited, otherwise of the machine."""
    memory = psutil.virtual_memory()
    limit = cgroups.memory_limit(root)
    if limit is not None and limit.limit_bytes < memory.total and limit.used_bytes is not None:
        return limit.used_bytes, limit.limit_bytes
    return memory.total - memory.available, memory.total


def _process_memory_bytes(pids: Sequence[int]) -> int | None:
    sizes = []
    for pid in pids:
        try:
            sizes.append(psutil.Process(pid).memory_info().rss)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return sum(sizes) if sizes else None
