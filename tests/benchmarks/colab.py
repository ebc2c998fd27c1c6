"""The times on Colab to install the wheel and to show `Workbench()`.

`python -m tests.benchmarks.colab [--quick] [--wheel FILE]` makes an environment with the versions
of Colab's CPU runtime under `build/` (once) and builds the wheel. In turn, it installs the wheel
there and shows a workbench in a fresh kernel. It installs with Colab's own pip, which finds all
packages of Colab's list and can fetch none. The times exclude Colab's machines and front end.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

from tests import wheels
from tests.benchmarks.report import Limit, print_line
from tests.colab import environment
from tests.colab.lists import versions

ROUNDS = 7
QUICK_ROUNDS = 2
KERNEL_SECONDS = 60
ENVIRONMENT = wheels.ROOT / "build" / "colab"
STAND_IN = Path(environment.__file__).with_name("stand_in")
VIEW = "application/vnd.jupyter.widget-view+json"
SHOWN = "from workbench import Workbench\nWorkbench()"
NO_TENSORFLOW = "import sys; assert 'tensorflow' not in sys.modules"
INSTALLED = Limit("pip install of the wheel", "s", at_most=60.0)
OPENED = Limit("Workbench(), from its import until it is shown", "s", at_most=1.5)


def colab_python() -> Path:
    """Return the interpreter of an environment with Colab's versions, including pip's."""
    project = tomllib.loads((wheels.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return environment.make(ENVIRONMENT, *project["dependencies"], "pip")


def write_list(folder: Path) -> None:
    """Let pip find each package of Colab's list in a folder, only by name and version."""
    for name, version in versions("cpu").items():
        info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (info / "RECORD").touch()


def pip(python: Path, beside: Path, *arguments: str) -> float:
    """Run the environment's pip with the list and return its seconds."""
    began = time.perf_counter()
    subprocess.run(
        [str(python), "-m", "pip", "--disable-pip-version-check", *arguments],
        env={**os.environ, "PYTHONPATH": str(beside)},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.perf_counter() - began


@contextmanager
def fresh_kernel(python: Path, folder: Path) -> Iterator[BlockingKernelClient]:
    """A kernel of the environment with the signs of Colab; at the end its processes have ended."""
    spec = folder / "kernels" / "colab" / "kernel.json"
    spec.parent.mkdir(parents=True, exist_ok=True)
    command = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec.write_text(json.dumps({"argv": command, "display_name": "Colab", "language": "python"}))
    signs = {"COLAB_RELEASE_TAG": "any", "WORKBENCH_STATE": str(folder / "state")}
    signs["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # the debugger's warning is irrelevant here
    manager = KernelManager(kernel_name="colab")
    manager.kernel_spec_manager.kernel_dirs.insert(0, str(folder / "kernels"))
    manager.start_kernel(cwd=str(folder), env={**os.environ, **signs, "PYTHONPATH": str(STAND_IN)})
    client = manager.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=KERNEL_SECONDS)
        yield client
        # It detects the devices in a separate process, which must end before the next round.
        started = psutil.Process(manager.provisioner.pid).children(recursive=True)
        psutil.wait_procs(started, timeout=KERNEL_SECONDS)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def seconds_until_shown(client: BlockingKernelClient) -> float:
    """Run the first cell of a user; return the seconds until its view is sent to the page."""
    shown: list[float] = []

    def note_view(message: dict[str, Any]) -> None:
        if VIEW in message["content"].get("data", {}):
            shown.append(time.perf_counter())

    began = time.perf_counter()
    for cell, listener in ((SHOWN, note_view), (NO_TENSORFLOW, lambda _: None)):
        reply = client.execute_interactive(cell, output_hook=listener, timeout=KERNEL_SECONDS)
        if reply["content"]["status"] != "ok":
            raise RuntimeError("\n".join(reply["content"]["traceback"]))
    return shown[0] - began


def main() -> int:
    """Measure and print; the exit status is 1 if a median is over its limit."""
    options = argparse.ArgumentParser(prog="python -m tests.benchmarks.colab", description=__doc__)
    options.add_argument("--quick", action="store_true", help="few rounds, to try the benchmark")
    options.add_argument("--wheel", type=Path, help="a wheel that was built before")
    chosen = options.parse_args()
    python = colab_python()
    installed, opened = [], []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        wheel = chosen.wheel or wheels.build(folder / "built")
        write_list(folder / "list")
        for _ in range(1 + (QUICK_ROUNDS if chosen.quick else ROUNDS)):
            pip(python, folder / "list", "uninstall", "-qq", "--yes", "tf-distribute-workbench")
            options_of_pip = ("install", "--quiet", "--no-index", str(wheel))
            installed.append(pip(python, folder / "list", *options_of_pip))
            with fresh_kernel(python, folder) as client:
                opened.append(seconds_until_shown(client))
    print_line(
        f"Colab's versions on Python {sys.version.split()[0]}; the first round is not counted"
    )
    reached = [INSTALLED.judge(installed[1:]), OPENED.judge(opened[1:])]
    return int(not all(reached))


if __name__ == "__main__":
    sys.exit(main())
