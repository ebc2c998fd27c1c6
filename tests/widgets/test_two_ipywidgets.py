"""Every widget is made under Colab's ipywidgets (7.7) and under 8, without TensorFlow."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COLAB = (
    "anywidget==0.9.21", "ipykernel==6.17.1", "ipython==7.34.0", "ipywidgets==7.7.1",
    "matplotlib==3.10.0", "numpy==2.1.3", "pandas==2.2.3", "plotly==5.24.1", "psutil==5.9.5",
    "traitlets==5.7.1",
)  # fmt: skip

pytestmark = pytest.mark.slow


def run(command: list[str], **environment: str) -> str:
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def version_in(printed: str) -> str:
    """Return the version of ipywidgets; without a page, views are printed too, at any time."""
    (line,) = (line for line in printed.splitlines() if line.startswith('{"ipywidgets"'))
    return str(json.loads(line)["ipywidgets"])


@pytest.fixture(scope="module")
def colab_like(request: pytest.FixtureRequest) -> Path:
    """The interpreter of an environment with Colab's versions, kept for later runs."""
    cache = request.config.cache
    assert cache is not None
    folder = cache.mkdir("colab-like")
    python = folder / "bin" / "python"
    wanted = "\n".join((sys.version, *COLAB))
    note = folder / "made-of.txt"
    if not note.exists() or note.read_text() != wanted:
        uv = [sys.executable, "-m", "uv"]
        run([*uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)])
        run([*uv, "pip", "install", "--quiet", "--python", str(python), *COLAB])
        note.write_text(wanted)
    return python


def test_every_view_is_made_with_the_versions_of_colab(colab_like: Path, tmp_path: Path) -> None:
    printed = run(
        [str(colab_like), "-m", "tests.widgets.every_view"],
        PYTHONPATH=str(ROOT),
        WORKBENCH_STATE=str(tmp_path),
    )
    assert version_in(printed) == "7.7.1"


@pytest.mark.promise
def test_every_view_is_made_with_the_installed_versions(tmp_path: Path) -> None:
    printed = run(
        [sys.executable, "-m", "tests.widgets.every_view", "--any"], WORKBENCH_STATE=str(tmp_path)
    )
    assert version_in(printed).startswith("8.")
