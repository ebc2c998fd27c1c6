"""The notebooks: their order, the cell that installs, and their saved outputs."""

import json
import os
import shutil
import subprocess
import sysconfig
import venv
import zipfile
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.capture.notebook import opened
from tests.notebook_outputs import FOLDER, NOTEBOOKS, OF_A_MACHINE

CONSTANT = 'SOURCE = ""'
RUN = """
import sys
from IPython.core.interactiveshell import InteractiveShell
InteractiveShell().run_cell(sys.stdin.read()).raise_error()
"""
ON_COLAB = Path(__file__).with_name("colab") / "stand_in"
"""A stand-in for Colab's own modules, which no other machine has."""


def read(name: str) -> dict[str, Any]:
    """Return a notebook as JSON."""
    return json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))


def install_cell(name: str = NOTEBOOKS[0]) -> str:
    (cell,) = (cell for cell in read(name)["cells"] if cell["id"] == "install")
    return "".join(cell["source"])


def test_there_is_a_lesson_for_each_task_and_one_for_each_runtime() -> None:
    assert NOTEBOOKS == (
        "01_click_to_train",
        "02_compare_strategies",
        "03_own_model",
        "04_own_data",
        "05_beyond_one_machine",
        "06_pitfalls",
        "colab_gpu",
        "colab_tpu",
        "kaggle",
    )


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_one_cell_installs_and_it_is_the_same_everywhere(name: str) -> None:
    assert install_cell(name) == install_cell()
    code = ["".join(each["source"]) for each in read(name)["cells"] if each["cell_type"] == "code"]
    assert sum("pip install" in cell for cell in code) == 1


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_all_cells_were_run_in_order_without_an_error(name: str) -> None:
    code = [cell for cell in read(name)["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell["outputs"]]
    assert {output["output_type"] for output in outputs} >= {"display_data"}
    assert not [output for output in outputs if output["output_type"] == "error"]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_lesson_has_no_traces_of_a_machine(name: str) -> None:
    assert OF_A_MACHINE.findall((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_lesson_is_a_valid_notebook_that_begins_with_its_title(name: str) -> None:
    nbformat.validate(nbformat.read(FOLDER / f"{name}.ipynb", as_version=4))
    first = read(name)["cells"][0]
    assert first["cell_type"] == "markdown"
    assert first["source"][0].startswith("# ")


@pytest.mark.parametrize(
    ("name", "key", "wanted"),
    [
        ("colab_gpu", "accelerator", "GPU"),
        ("colab_gpu", "colab", {"gpuType": "T4"}),
        ("colab_tpu", "accelerator", "TPU"),
        ("colab_tpu", "colab", {"gpuType": "V5E1"}),
        ("kaggle", "kaggle", {"accelerator": "nvidiaTeslaT4", "isInternetEnabled": True}),
    ],
)
def test_a_lesson_for_a_runtime_asks_for_its_accelerator(name: str, key: str, wanted: Any) -> None:
    found = read(name)["metadata"][key]
    assert found == wanted or found.items() >= wanted.items()


def test_nothing_is_installed_next_to_an_installed_workbench(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with opened() as notebook:
        notebook.run(install_cell())
    assert capfd.readouterr() == ("", "")


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the interpreter of an environment with pip and without the workbench."""
    folder = tmp_path_factory.mktemp("elsewhere") / "env"
    venv.create(folder, with_pip=True)
    return folder / "bin" / "python"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a wheel with the workbench's name and one small module."""
    info = "tf_distribute_workbench-1.0.dist-info"
    files = {
        "greeting.py": 'WORDS = "hello from the wheel"\n',
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: tf-distribute-workbench\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
    }
    folder = tmp_path_factory.mktemp("a folder")
    with zipfile.ZipFile(folder / "tf_distribute_workbench-1.0-py3-none-any.whl", "w") as file:
        for name, text in files.items():
            file.writestr(name, text)
        return Path(str(file.filename))


def run_there(
    python: Path, cell: str, folder: Path, *modules: Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a cell in that environment, with IPython from the environment of the tests.

    The workbench is only linked there, so the cell does not find it.
    """
    paths = os.pathsep.join([*map(str, modules), sysconfig.get_path("purelib")])
    return subprocess.run(
        [str(python), "-P", "-c", RUN],
        input=f"{cell}\nimport greeting\nprint(greeting.WORDS)",
        env={**os.environ, "PYTHONPATH": paths, "PIP_NO_INDEX": "1", **variables},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_an_install_without_a_wheel_says_where_to_put_it(elsewhere: Path, tmp_path: Path) -> None:
    done = run_there(elsewhere, install_cell(), tmp_path)
    assert "no wheel of it was found. Set SOURCE to the path" in done.stderr + done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("way", ["named", "in the folder", "uploaded on Colab"])
def test_a_wheel_is_installed_into_the_kernels_own_environment(
    way: str, elsewhere: Path, wheel: Path, tmp_path: Path
) -> None:
    cell = install_cell()
    if way == "named":
        named = cell.replace(CONSTANT, f'SOURCE = "{wheel}"')
        done = run_there(elsewhere, named, tmp_path)
    elif way == "in the folder":
        shutil.copy(wheel, tmp_path)
        done = run_there(elsewhere, cell, tmp_path)
    else:
        cell = f"import google.colab\n{cell}"
        done = run_there(elsewhere, cell, tmp_path, ON_COLAB, STAND_IN_UPLOAD=str(wheel))
    assert done.returncode == 0, done.stderr
    assert "hello from the wheel" in done.stdout
    uninstall = [str(elsewhere), "-m", "pip", "uninstall", "--yes", "tf-distribute-workbench"]
    subprocess.run(uninstall, check=True, capture_output=True)
