"""Interpreters that make environments, and a folder of wheels in place of a package index."""

from __future__ import annotations

import ensurepip
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.environments import stand_ins


@pytest.fixture(scope="session")
def debian_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A real interpreter with pip whose `ensurepip` is missing, as on Debian and on Colab."""
    folder = tmp_path_factory.mktemp("debian") / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    (site,) = folder.glob("lib/python3*/site-packages")
    (site / "no_ensurepip.pth").write_text("import sys; sys.modules['ensurepip'] = None\n")
    return str(folder / "bin" / "python")


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Make uv find stand-ins for TensorFlow in a folder, and nothing elsewhere."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for pip in (Path(ensurepip.__file__).parent / "_bundled").glob("pip-*.whl"):
        shutil.copy(pip, folder)
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    return lambda behaviour: stand_ins.write_wheel(folder, behaviour)
