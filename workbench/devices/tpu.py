"""TPU chips, found by device files, PCI identity and environment.

The search does not use TensorFlow and opens no device. Chips up to v4 have the files
`/dev/accel<n>`, later chips have `/dev/vfio/<group>`. Both kinds of file also belong to other
hardware. So a file counts if its PCI vendor is Google. If the system does not show the vendor (in
some containers), a file counts if the environment belongs to a TPU VM.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_GOOGLE = "0x1ae0"
_KIND_OF_DEVICE = {
    "0x005e": "v4",
    "0x0062": "v5p",
    "0x0063": "v5e",
    "0x006f": "v6e",
    "0x0076": "7x",
}
_KIND_OF_SUBSYSTEM = {"0x004e": "v2", "0x004f": "v3"}
_V2_OR_V3 = "0x0027"
_KIND_OF_TYPE = {"v5litepod": "v5e", "v5lite": "v5e", "tpu7x": "7x"}
_FILES_PER_CHIP = {"7x": 2}
_TPU_VM_VARIABLES = ("TPU_ACCELERATOR_TYPE", "TPU_CHIPS_PER_HOST_BOUNDS", "ISTPUVM")
_VISIBLE_VARIABLES = ("TPU_VISIBLE_CHIPS", "TPU_VISIBLE_DEVICES")
REPLICAS_PER_CHIP = {"v2": 2, "v3": 2, "v4": 1, "v5e": 1, "v5p": 1, "v6e": 1}
"""TensorFlow makes a replica of each core, or (v4 and v5p) of both cores of a chip together."""


@dataclass(frozen=True)
class Tpu:
    """The chips that a run can open, and a problem if there should be more chips."""

    chips: int
    kind: str | None
    problem: str | None = None


def find(root: Path, environment: Mapping[str, str]) -> Tpu:
    """Return the chips that have device files under `root` and that the environment shows."""
    declared = next((name for name in _TPU_VM_VARIABLES if environment.get(name)), None)
    files = [_pci_folders(root, path) for path in device_files(root)]
    kinds = [_kind_of(folders) for folders in files if folders]
    known = [kind for kind in kinds if kind is not None]
    unproved = [folders for folders in files if not folders] if declared else []
    kind = known[0] if known else _declared_kind(environment)
    if known or unproved:
        count = (len(known) + len(unproved)) // _FILES_PER_CHIP.get(kind or "", 1)
        return _visible(max(1, count), kind, environment)
    on_bus = [_kind_of([folder]) for folder in (root / "sys/bus/pci/devices").glob("*")]
    if any(on_bus):
        return Tpu(0, None, _no_files_problem(next(kind for kind in on_bus if kind)))
    if declared:
        return Tpu(0, None, _declared_problem(declared, environment[declared]))
    return Tpu(0, None)


def device_files(root: Path) -> list[Path]:
    """Return the files that may belong to a TPU; some of them can belong to other hardware."""
    accel = [path for path in (root / "dev").glob("accel*") if path.name[5:].isdigit()]
    groups = [path for path in (root / "dev/vfio").glob("*") if path.name.isdigit()]
    return sorted(accel) + sorted(groups)


def _pci_folders(root: Path, device_file: Path) -> list[Path]:
    """Return the PCI devices of a device file; empty if the system does not show them."""
    if device_file.parent.name == "vfio":
        group = root / "sys/kernel/iommu_groups" / device_file.name / "devices"
        return sorted(group.glob("*"))
    device = root / "sys/class/accel" / device_file.name / "device"
    return [device] if device.exists() else []


def _kind_of(folders: list[Path]) -> str | None:
    """Return the generation of the TPU among PCI devices; None if no known TPU is among them."""
    for folder in folders:
        if _line(folder / "vendor") != _GOOGLE:
            continue
        device = _line(folder / "device")
        if device == _V2_OR_V3:
            return _KIND_OF_SUBSYSTEM.get(_line(folder / "subsystem_device"))
        if device in _KIND_OF_DEVICE:
            return _KIND_OF_DEVICE[device]
    return None


def _declared_kind(environment: Mapping[str, str]) -> str | None:
    """Return the generation that a type such as `v5litepod-8`, `v3-8` or `tpu7x-8` names."""
    name = environment.get("TPU_ACCELERATOR_TYPE", "").lower().split("-")[0]
    return _KIND_OF_TYPE.get(name, name) or None


def _visible(chips: int, kind: str | None, environment: Mapping[str, str]) -> Tpu:
    name = next((name for name in _VISIBLE_VARIABLES if name in environment), None)
    if name is None:
        return Tpu(chips, kind)
    chosen = len([word for word in environment[name].split(",") if word.strip()])
    if chosen >= chips:
        return Tpu(chips, kind)
    return Tpu(
        chosen,
        kind,
        f"{chips - chosen} of {chips} TPU chips cannot be used because "
        f"{name}={environment[name]!r} hides the rest: unset it, or list the chips to use in it.",
    )


def _no_files_problem(kind: str) -> str:
    return (
        f"A TPU {kind} is on the PCI bus, but there is no device file /dev/accel* or "
        "/dev/vfio/<number> for it, so no program can open it: on a TPU VM, restart the VM; in a "
        "container, start it with --privileged or with those files as --device."
    )


def _declared_problem(name: str, value: str) -> str:
    return (
        f"The environment announces a TPU ({name}={value}), but there is no device file "
        "/dev/accel* or /dev/vfio/<number>, so no program can open one: choose a TPU accelerator "
        f"in the notebook host's settings and restart the session, or unset {name} if it has none."
    )


def _line(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
