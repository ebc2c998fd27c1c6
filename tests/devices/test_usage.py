"""The current usage of the machine: measured here, and read from a stand-in for a driver."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from tests.waiting import until
from workbench.devices import usage
from workbench.devices.usage import GpuUsage, UsageMeter


class NvmlError(Exception):
    pass


class NotSupportedError(NvmlError):
    pass


class FunctionNotFoundError(NvmlError):
    pass


def not_supported(*asked: int) -> None:
    raise NotSupportedError


def nvml(**changed: Any) -> Any:
    """Make a stand-in for the `pynvml` module with one GPU."""
    values: dict[str, Any] = {
        "NVMLError": NvmlError,
        "NVMLError_NotSupported": NotSupportedError,
        "nvmlInit": lambda: None,
        "nvmlShutdown": lambda: None,
        "nvmlDeviceGetCount": lambda: 1,
        "nvmlDeviceGetHandleByIndex": lambda index: index,
        "nvmlDeviceGetName": lambda handle: b"Tesla T4",
        "nvmlDeviceGetMemoryInfo": lambda handle: SimpleNamespace(used=2**30, total=2**34),
        "nvmlDeviceGetUtilizationRates": lambda handle: SimpleNamespace(gpu=37, memory=5),
        "NVML_TEMPERATURE_GPU": 0,
        "nvmlDeviceGetTemperature": lambda handle, sensor: 61,
    }
    return SimpleNamespace(**{**values, **changed})


def test_cpu_is_unknown_at_first_and_a_share_afterwards() -> None:
    meter = UsageMeter()
    assert meter.measure().cpu_percent is None
    (percent,) = until(lambda: [p for p in [meter.measure().cpu_percent] if p is not None])
    assert 0 <= percent <= 100


def test_memory_is_within_the_machine() -> None:
    found = usage.measure()
    assert 0 < found.memory_used_bytes <= found.memory_total_bytes
    assert found.memory_total_bytes <= psutil.virtual_memory().total


def test_in_a_limited_container_memory_is_the_container_s(tmp_path: Path) -> None:
    group = tmp_path / "sys/fs/cgroup/job"
    group.mkdir(parents=True)
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("0::/job\n")
    (group / "memory.max").write_text("1000000\n")
    (group / "memory.current").write_text("600000\n")
    (group / "memory.stat").write_text("inactive_file 100000\n")
    found = UsageMeter(root=tmp_path).measure()
    assert (found.memory_used_bytes, found.memory_total_bytes) == (500_000, 1_000_000)


def test_process_memory_adds_up_without_ended_processes() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    alone = usage.measure([os.getpid()]).process_memory_bytes
    assert alone is not None
    assert alone > 10 * 2**20
    assert usage.measure([os.getpid(), ended.pid]).process_memory_bytes is not None
    assert usage.measure([ended.pid]).process_memory_bytes is None
    assert usage.measure().process_memory_bytes is None


def test_gpus_are_read_from_the_driver() -> None:
    found = UsageMeter(nvml()).measure()
    assert found.gpus == (GpuUsage("Tesla T4", 37.0, 2**30, 2**34, 61.0),)


@pytest.mark.parametrize(("driver_has_it", "used_bytes"), [(True, 0), (False, 2**30)])
def test_the_reserve_of_the_driver_is_not_in_use_if_the_driver_tells(
    driver_has_it: bool, used_bytes: int
) -> None:
    def memory(handle: int, version: int | None = None) -> SimpleNamespace:
        if version is not None and not driver_has_it:
            raise FunctionNotFoundError
        return SimpleNamespace(used=2**30 if version is None else 0, total=2**34)

    library = nvml(
        nvmlMemory_v2=2,
        NVMLError_FunctionNotFound=FunctionNotFoundError,
        nvmlDeviceGetMemoryInfo=memory,
    )
    (gpu,) = UsageMeter(library).measure().gpus
    assert gpu.memory_used_bytes == used_bytes


def test_a_reading_that_a_gpu_lacks_is_unknown() -> None:
    library = nvml(
        nvmlDeviceGetUtilizationRates=not_supported,
        nvmlDeviceGetMemoryInfo=not_supported,
        nvmlDeviceGetTemperature=not_supported,
    )
    assert UsageMeter(library).measure().gpus == (GpuUsage("Tesla T4", None, None, None, None),)


def test_without_a_driver_there_are_no_gpus_and_later_measurements_try_again() -> None:
    answers = iter([NvmlError("driver not loaded"), None])

    def start() -> None:
        answer = next(answers)
        if answer is not None:
            raise answer

    meter = UsageMeter(nvml(nvmlInit=start))
    assert meter.measure().gpus == ()
    assert len(meter.measure().gpus) == 1
    assert len(meter.measure().gpus) == 1


def test_a_lost_driver_is_no_crash_and_is_opened_again() -> None:
    counts = iter([NvmlError("GPU is lost"), 1])
    opened = []

    def count() -> int:
        answer = next(counts)
        if isinstance(answer, NvmlError):
            raise answer
        return answer

    meter = UsageMeter(nvml(nvmlInit=lambda: opened.append(1), nvmlDeviceGetCount=count))
    assert meter.measure().gpus == ()
    assert len(meter.measure().gpus) == 1
    assert len(opened) == 2


def test_close_closes_what_was_opened_once() -> None:
    closed = []
    meter = UsageMeter(nvml(nvmlShutdown=lambda: closed.append(1)))
    meter.measure()
    meter.close()
    meter.close()
    assert closed == [1]


def test_this_machine_is_measured_with_its_own_driver() -> None:
    for gpu in usage.measure().gpus:
        assert gpu.memory_total_bytes is None or gpu.memory_total_bytes > 0
