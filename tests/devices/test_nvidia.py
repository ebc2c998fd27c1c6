"""NVIDIA GPUs from NVML and from the driver's files, and the GPUs that CUDA shows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.devices import nvidia
from workbench.devices.nvidia import NvidiaGpu

T4 = NvidiaGpu("Tesla T4", 15 * 2**30, "7.5", "GPU-aaaa-1")
OTHER_T4 = NvidiaGpu("Tesla T4", 15 * 2**30, "7.5", "GPU-bbbb-2")
A100 = NvidiaGpu("NVIDIA A100-SXM4-40GB", 40 * 2**30, "8.0", "GPU-cccc-3")
UNKNOWN = NvidiaGpu(model=None)


def test_nvml_gives_model_memory_capability_and_uuid(nvml: Callable[..., Any]) -> None:
    assert nvidia.nvml_gpus(nvml(T4, A100)) == (T4, A100)


def test_memory_that_a_gpu_does_not_report_is_unknown(nvml: Callable[..., Any]) -> None:
    (found,) = nvidia.nvml_gpus(nvml(T4, memory_supported=False)) or ()
    assert found == NvidiaGpu("Tesla T4", None, "7.5", "GPU-aaaa-1")


def test_without_nvml_the_driver_files_name_the_gpus(
    nvml: Callable[..., Any], tree: Callable[[dict[str, str]], Path]
) -> None:
    root = tree(
        {
            "proc/driver/nvidia/gpus/0000:00:05.0/information": "Model: \t Tesla T4\n"
            "IRQ:   \t 44\nGPU UUID: \t GPU-bbbb-2\nBus Location: \t 0000:00:05.0\n",
            "proc/driver/nvidia/gpus/0000:00:04.0/information": "Model: \t NVIDIA A100\n",
        }
    )
    found = nvidia.driver_gpus(root, nvml(driver=False))
    assert found == (NvidiaGpu("NVIDIA A100"), NvidiaGpu("Tesla T4", uuid="GPU-bbbb-2"))


def test_gpus_on_the_bus_are_counted_without_a_driver(
    tree: Callable[[dict[str, str]], Path],
) -> None:
    root = tree(
        {
            "sys/bus/pci/devices/0000:00:04.0/vendor": "0x10de\n",
            "sys/bus/pci/devices/0000:00:04.0/class": "0x030200\n",
            "sys/bus/pci/devices/0000:00:04.1/vendor": "0x10de\n",
            "sys/bus/pci/devices/0000:00:04.1/class": "0x040300\n",
        }
    )
    assert nvidia.pci_count(root) == 1


@pytest.mark.parametrize(
    ("selection", "shown"),
    [
        ("1,0", (OTHER_T4, T4)),
        ("", ()),
        ("-1", ()),
        ("NoDevFiles", ()),
        ("1,7,0", (OTHER_T4,)),
        ("GPU-bbbb", (OTHER_T4,)),
        (" 0 ", (T4,)),
        ("MIG-1234", (UNKNOWN,)),
    ],
)
def test_cuda_visible_devices_is_read_as_cuda_reads_it(
    selection: str, shown: tuple[NvidiaGpu, ...]
) -> None:
    assert nvidia.visible((T4, OTHER_T4), {"CUDA_VISIBLE_DEVICES": selection}) == shown


def test_an_index_among_different_gpus_is_unknown_unless_the_order_is_set() -> None:
    selection = {"CUDA_VISIBLE_DEVICES": "0"}
    assert nvidia.visible((T4, A100), selection) == (UNKNOWN,)
    assert nvidia.visible((T4, A100), {}) == (UNKNOWN, UNKNOWN)
    ordered = {**selection, "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    assert nvidia.visible((T4, A100), ordered) == (T4,)
    assert nvidia.visible((T4, A100), {"CUDA_VISIBLE_DEVICES": "GPU-cccc-3"}) == (A100,)


def test_memory_is_known_if_all_gpus_of_the_model_have_the_same() -> None:
    small = NvidiaGpu("Tesla T4", 8 * 2**30)
    assert nvidia.memory_of("Tesla T4", (T4, OTHER_T4, A100)) == 15 * 2**30
    assert nvidia.memory_of("Tesla T4", (T4, small)) is None
    assert nvidia.memory_of(None, (T4,)) is None
