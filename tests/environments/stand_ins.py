"""Stand-ins for TensorFlow's wheels, installed by the real uv: small, and they fail on demand.

They have the attributes that the workbench reads after an import of TensorFlow. They cannot train.
"""

from __future__ import annotations

import platform
import zipfile
from pathlib import Path

from workbench.environments import Build

VERSION = "2.20.0"
LOADED = ""
"""The additional code of a stand-in that works: none."""
LARGE = f"# {'x' * 2**22}"
FAILS = "raise ImportError('libstdc++.so.6: version GLIBCXX_9 not found')"
ABORTS = """
import os
print("tpu_library.inc:12] ConfigureDistributedTpuOp_DoWork not available in this library.")
os.abort()
"""
HELD = """
tpu_systems = []
print("FindAndLoadTpuLibrary failed with ABORTED: The TPU is already in use by process with "
      "pid 4321. Not attempting to load libtpu.so in this process.. This is expected if TPU is "
      "not used.")
"""
MISSING = """
tpu_systems = []
print("FindAndLoadTpuLibrary failed with INTERNAL: Failed to open libtpu libtpu.so: cannot open "
      "shared object file: No such file or directory. This is expected if TPU is not used.")
"""
_SOURCE = """
from types import SimpleNamespace
__version__ = "{version}"
tpu_systems = ["TPU_SYSTEM:0"]
{behaviour}
config = SimpleNamespace(
    list_physical_devices=lambda kind: tpu_systems if kind == "TPU_SYSTEM" else [],
    experimental=None,
)
test = SimpleNamespace(is_built_with_cuda=lambda: False)
sysconfig = SimpleNamespace(get_build_info=dict)
"""


def tpu_build(version: str = VERSION) -> Build:
    """Return a build of a stand-in for TensorFlow on TPUs, for any Python on this machine."""
    return Build(
        "a stand-in for TensorFlow",
        (f"tensorflow-tpu=={version}",),
        ((platform.system(), platform.machine()),),
        ((3, 8), (3, 99)),
        download_bytes=1000,
        disk_bytes=2**24,
        for_tpus=True,
    )


def source(behaviour: str = LOADED, version: str = VERSION) -> str:
    """Return the text of a stand-in's `tensorflow/__init__.py`."""
    return _SOURCE.format(behaviour=behaviour, version=version)


def write_wheel(
    folder: Path,
    behaviour: str = LOADED,
    version: str = VERSION,
    distribution: str = "tensorflow-tpu",
) -> None:
    """Write the wheel of a stand-in with this behaviour."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{distribution.replace('-', '_')}-{version}"
    about = f"{stem}.dist-info"
    files = {
        "tensorflow/__init__.py": source(behaviour, version),
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\n"
        "Tag: py3-none-any\n",
    }
    record = "".join(f"{name},,\n" for name in [*files, f"{about}/RECORD"])
    with zipfile.ZipFile(folder / f"{stem}-py3-none-any.whl", "w") as wheel:
        for name, text in {**files, f"{about}/RECORD": record}.items():
            wheel.writestr(name, text)
