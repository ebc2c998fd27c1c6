"""The project's wheel and sdist, built from a copy, so that nothing is written here."""

import shutil
import subprocess
import sys
from pathlib import Path

from tests.virtualenvs import uv

ROOT = Path(__file__).parents[1]


NODE_MODULES = Path("extension", "node_modules")


def build(folder: Path, path: str | None = None) -> Path:
    """Build both in an empty folder from what git tracks, with the installed packages for Node.js.

    With another `path`, which is its PATH, these packages are installed anew. Return the wheel,
    which is beside the sdist.
    """
    source, target = folder / "source", folder / "wheel"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, source / name)  # with its time: see hatch_build.py
    if path is None and (ROOT / NODE_MODULES).is_dir():
        (source / NODE_MODULES).symlink_to(ROOT / NODE_MODULES)
    python = ("--python", sys.executable)
    kinds = ("--sdist", "--wheel")
    uv("build", "-q", *python, *kinds, "--out-dir", str(target), str(source), path=path)
    (built,) = target.glob("*.whl")
    return built
