"""Tests of the lines of the gauge: a value is measured or unknown."""

from __future__ import annotations

from dataclasses import replace

from tests.machines import GIB
from workbench.devices.usage import GpuUsage, Usage
from workbench.feed.meters import Meter, meters

IDLE = Usage(25.0, 6 * GIB, 24 * GIB, (), None)


def lines(usage: Usage, gpus: int = 0, tpu_chips: int = 0) -> list[Meter]:
    return meters(usage, gpus=gpus, tpu_chips=tpu_chips)


def test_use_of_memory_and_processor_is_a_share_of_the_available_amount() -> None:
    memory, processor = lines(IDLE)
    assert memory == ("Memory in use", 0.25, "6 GiB of 24 GiB")
    assert processor == ("CPU in use", 0.25, "25%")


def test_each_gpu_of_the_driver_has_a_line() -> None:
    known = GpuUsage("Tesla T4", 37.0, 4 * GIB, 16 * GIB, 61.0)
    unknown = GpuUsage("Tesla T4", None, None, None, None)
    *_, first, second = lines(replace(IDLE, gpus=(known, unknown)), gpus=2)
    assert first == ("Tesla T4, GPU 0 in nvidia-smi", 0.25, "4 GiB of 16 GiB, 37% busy, 61 °C")
    assert second == ("Tesla T4, GPU 1 in nvidia-smi", None, "unknown, unknown busy")


def test_a_value_that_cannot_be_measured_is_shown_as_unknown() -> None:
    gpu = lines(IDLE, gpus=1)[-1]
    assert (gpu.share, gpu.text.split(":")[0]) == (None, "unknown")
    tpu = lines(IDLE, tpu_chips=4)[-1]
    assert tpu[:2] == ("TPU in use", None)
    assert tpu.text.startswith("unknown of 4 chips")
    processor = lines(replace(IDLE, cpu_percent=None))[1]
    assert processor == ("CPU in use", None, "unknown")
