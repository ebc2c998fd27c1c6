"""TPU chips from device files, PCI identity and environment, in folders like those of TPU VMs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.devices import tpu
from workbench.devices.tpu import Tpu

Tree = Callable[[dict[str, str]], Path]
V5E_1 = {"TPU_ACCELERATOR_TYPE": "v5litepod-1", "TPU_CHIPS_PER_HOST_BOUNDS": "1,1,1"}


def vfio(group: int, vendor: str = "0x1ae0", device: str = "0x0063") -> dict[str, str]:
    folder = f"sys/kernel/iommu_groups/{group}/devices/0000:00:0{4 + group}.0"
    return {
        f"dev/vfio/{group}": "",
        "dev/vfio/vfio": "",
        f"{folder}/vendor": f"{vendor}\n",
        f"{folder}/device": f"{device}\n",
    }


def accel(number: int, device: str, subsystem: str = "0x0000") -> dict[str, str]:
    folder = f"sys/class/accel/accel{number}/device"
    return {
        f"dev/accel{number}": "",
        f"{folder}/vendor": "0x1ae0\n",
        f"{folder}/device": f"{device}\n",
        f"{folder}/subsystem_device": f"{subsystem}\n",
    }


def test_a_machine_without_a_tpu_has_no_chips_and_no_problem(tmp_path: Path) -> None:
    assert tpu.find(tmp_path, {}) == Tpu(0, None)


def test_eight_vfio_groups_are_a_v5e_8_without_any_variable(tree: Tree) -> None:
    files = {name: text for group in range(8) for name, text in vfio(group).items()}
    assert tpu.find(tree(files), {}) == Tpu(8, "v5e")


@pytest.mark.parametrize(
    ("device", "subsystem", "kind"),
    [
        ("0x005e", "0x0000", "v4"),
        ("0x0027", "0x004e", "v2"),
        ("0x0027", "0x004f", "v3"),
    ],
)
def test_accel_files_are_named_by_their_pci_identity(
    tree: Tree, device: str, subsystem: str, kind: str
) -> None:
    files = {**accel(0, device, subsystem), **accel(1, device, subsystem)}
    assert tpu.find(tree(files), {}) == Tpu(2, kind)


def test_two_files_of_a_7x_are_one_chip(tree: Tree) -> None:
    files = {**vfio(0, device="0x0076"), **vfio(1, device="0x0076")}
    assert tpu.find(tree(files), {}) == Tpu(1, "7x")


def test_other_hardware_behind_the_same_kinds_of_file_is_no_tpu(tree: Tree) -> None:
    files = {
        **vfio(96, vendor="0x15b3", device="0xc2d5"),
        "dev/accel0": "",
        "sys/class/accel/accel0/device/vendor": "0x10de\n",
        "dev/accel/accel0": "",
    }
    assert tpu.find(tree(files), {}) == Tpu(0, None)


def test_if_the_system_hides_pci_the_environment_decides(tree: Tree) -> None:
    root = tree({"dev/vfio/0": "", "dev/vfio/vfio": ""})
    assert tpu.find(root, V5E_1) == Tpu(1, "v5e")
    assert tpu.find(root, {}) == Tpu(0, None)


@pytest.mark.parametrize(
    ("declared", "kind"), [("v3-8", "v3"), ("v6e-4", "v6e"), ("tpu7x-8", "7x"), ("", None)]
)
def test_the_kind_is_read_from_the_accelerator_type(
    tree: Tree, declared: str, kind: str | None
) -> None:
    root = tree({"dev/accel0": ""})
    found = tpu.find(root, {"TPU_ACCELERATOR_TYPE": declared, "ISTPUVM": "1"})
    assert found == Tpu(1, kind)


def test_an_announced_tpu_that_is_missing_is_a_problem_with_its_fix(tmp_path: Path) -> None:
    found = tpu.find(tmp_path, V5E_1)
    assert found.chips == 0
    assert "TPU_ACCELERATOR_TYPE=v5litepod-1" in (found.problem or "")
    assert "choose a TPU accelerator" in (found.problem or "")


def test_chips_on_the_bus_without_device_files_are_a_problem_with_its_fix(tree: Tree) -> None:
    root = tree(
        {
            "sys/bus/pci/devices/0000:00:04.0/vendor": "0x1ae0\n",
            "sys/bus/pci/devices/0000:00:04.0/device": "0x006f\n",
        }
    )
    found = tpu.find(root, {})
    assert found.chips == 0
    assert "TPU v6e is on the PCI bus" in (found.problem or "")
    assert "--privileged" in (found.problem or "")


def test_chips_hidden_by_a_variable_do_not_count_and_are_named(tree: Tree) -> None:
    files = {name: text for group in range(4) for name, text in vfio(group).items()}
    found = tpu.find(tree(files), {"TPU_VISIBLE_CHIPS": "0,1"})
    assert (found.chips, found.kind) == (2, "v5e")
    assert "2 of 4 TPU chips" in (found.problem or "")
    assert "TPU_VISIBLE_CHIPS='0,1'" in (found.problem or "")
