"""The project's wheel, built from a copy, so that nothing is written here."""

import shutil
import subprocess
import sys
from pathlib import Path

from tests.virtualenvs import uv

ROOT = Path(__file__).parents[1]


def build(folder: Path, path: str | None = None) -> Path:
    """Build it in an empty folder from what git tracks, with another PATH if given."""
    source, target = folder / "source", folder / "wheel"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, source / name)
    python = ("--python", sys.executable)
    uv("build", "-q", *python, "--wheel", "--out-dir", str(target), str(source), path=path)
    (built,) = target.glob("*.whl")
    return built
