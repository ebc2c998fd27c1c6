"""The project's tests again, with the versions of TensorFlow, Keras and ipywidgets in Colab."""

import os
import subprocess
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.colab import environment
from tests.colab.lists import versions

ROOT = Path(__file__).parents[2]


class Part(NamedTuple):
    """Tests of the project, and the expression with which pytest selects some of them."""

    marked: str
    tests: tuple[str, ...]


PARTS = {
    "quick tests": Part(
        "not slow and not browser",
        (
            *("capture", "codegen", "devices", "feed", "plan", "runs", "scripts", "widgets"),
            *("test_boundaries.py", "test_catalog.py", "test_charts.py", "test_config.py"),
            "test_hosts.py",
        ),
    ),
    "Colab widgets": Part("slow", ("colab/test_widget_manager.py",)),
    "training scripts": Part(
        "slow",
        (
            *("engine/test_agreement.py", "engine/test_own_model.py", "engine/test_notebook.py"),
            *("engine/test_own_shapes.py", "engine/test_own_data.py"),
        ),
    ),
}
SHOW = "import importlib.metadata as m, sys; print(*map(m.version, sys.argv[1:]))"
SEEN = (
    *("tensorflow", "keras", "tf_keras", "ipywidgets", "anywidget", "plotly", "pandas", "numpy"),
    *("traitlets", "ipython", "ipykernel", "matplotlib", "psutil"),
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def colab_python(request: pytest.FixtureRequest) -> Path:
    """The interpreter of the environment, which is made once and kept for later runs."""
    cache = request.config.cache
    assert cache is not None
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    exports = project["optional-dependencies"]["export"]
    return environment.make(cache.mkdir("colab"), *project["dependencies"], *exports)


def test_the_environment_has_the_versions_of_colab(colab_python: Path) -> None:
    command = [str(colab_python), "-c", SHOW, *SEEN]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    listed = versions("cpu")
    assert dict(zip(SEEN, output, strict=True)) == {name: listed[name] for name in SEEN}


@pytest.mark.parametrize("part", PARTS)
def test_the_tests_pass_with_colabs_versions(part: str, colab_python: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(str(colab_python), "-m", "pytest", "-q", "-m", PARTS[part].marked),
            *(f"--basetemp={tmp_path / 'inner'}", "-p", "no:cacheprovider"),
            *(f"tests/{name}" for name in PARTS[part].tests),
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout[-8000:]}\n{done.stderr[-4000:]}"
