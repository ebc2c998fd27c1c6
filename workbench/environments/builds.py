"""The builds of TensorFlow for environments, and the requirements of each build."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.devices import nvidia, tpu_build
from workbench.environments.errors import MakingError

if TYPE_CHECKING:
    from workbench.devices import Devices

GIB = 2**30


@dataclass(frozen=True)
class Build:
    """The packages to install, the Pythons that they support, and the space that they need."""

    label: str
    requirements: tuple[str, ...]
    """The first one is the distribution that provides TensorFlow; it installs NumPy and h5py."""
    platforms: tuple[tuple[str, str], ...]
    """Pairs of system and machine, with the names of the module `platform`."""
    pythons: tuple[tuple[int, int], tuple[int, int]]
    """The oldest and the newest Python that have wheels."""
    download_bytes: int
    disk_bytes: int
    for_tpus: bool = False

    @property
    def distribution(self) -> str:
        """The distribution that provides TensorFlow."""
        return self.requirements[0].partition("==")[0]

    @property
    def version(self) -> str:
        """TensorFlow's version."""
        return self.requirements[0].partition("==")[2]

    @property
    def needed_bytes(self) -> int:
        """The free space needed to make it: the downloaded files and then the packages."""
        return self.download_bytes + self.disk_bytes

    def folder_name(self, python_version: str) -> str:
        """Return a name that shows the contents of the environment."""
        parts = [requirement.replace("==", "-") for requirement in self.requirements]
        return "-".join([f"python{python_version.rpartition('.')[0]}", *parts])

    def check(self, python_version: str) -> None:
        """Check that wheels for this Python on this machine exist.

        Raises:
            MakingError: no such wheels exist.
        """
        oldest, newest = ((".".join(map(str, python))) for python in self.pythons)
        where = " or ".join(f"{system} {machine}" for system, machine in self.platforms)
        here = (platform.system(), platform.machine())
        got = f"Python {python_version} on {' '.join(here)}"
        if here not in self.platforms:
            raise MakingError(
                f"There are wheels of {self.requirements[0]} for {where} only",
                got,
                "Make the environment on such a machine, or choose a strategy other than TPU."
                if self.for_tpus
                else "Install TensorFlow yourself, and choose the interpreter that has it.",
            )
        major, minor = map(int, python_version.split(".")[:2])
        if not self.pythons[0] <= (major, minor) <= self.pythons[1]:
            raise MakingError(
                f"There are wheels of {self.requirements[0]} for Python {oldest} to {newest} only",
                got,
                f"Choose a Python {newest}, such as the one that `uv python install {newest}` "
                "adds, in the field Interpreter or with --interpreter.",
            )


BUILDS = {
    "tpu": Build(
        f"TensorFlow {tpu_build.TENSORFLOW_VERSION} for TPUs",
        tpu_build.REQUIREMENTS,
        (("Linux", "x86_64"),),
        ((3, 9), (3, 13)),
        download_bytes=GIB // 2,
        disk_bytes=2 * GIB,
        for_tpus=True,
    ),
    "cpu": Build(
        "TensorFlow 2.21.0 for the CPU",
        ("tensorflow-cpu==2.21.0",),
        (("Linux", "x86_64"),),
        ((3, 10), (3, 13)),
        download_bytes=GIB // 3,
        disk_bytes=3 * GIB // 2,
    ),
}
"""The builds by name; sizes were measured on Linux with Python 3.11 and rounded up."""


def fitting_build(devices: Devices) -> Build | None:
    """Return the build that an interpreter needs to use this machine's devices; None: no build.

    GPUs need CUDA too, which can be installed in several ways. So for GPUs no build is returned;
    the problems of the devices describe how to install CUDA.
    """
    if devices.tpu_chips:
        lacks = devices.tensorflow_version is None or devices.tensorflow_for_tpus is False
        return BUILDS["tpu"] if lacks else None
    here = (platform.system(), platform.machine())
    if devices.tensorflow_version is not None or here not in BUILDS["cpu"].platforms:
        return None
    root = Path("/")
    gpus = nvidia.driver_gpus(root, None) or nvidia.pci_count(root)
    return None if gpus else BUILDS["cpu"]
