"""Tests of the lessons: each installs from one constant and keeps no traces of a machine."""

import json
import os
import re
import subprocess
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tests.capture.notebook import opened

FOLDER = Path(__file__).parents[1] / "notebooks"
LESSONS = sorted(path.name for path in FOLDER.glob("*.ipynb"))
OPENED_INSTALLED = "01_click_to_train.ipynb"
"""The lesson that `workbench lab` opens with an installed workbench."""
INSTALLING = [name for name in LESSONS if name != OPENED_INSTALLED]
CONSTANT = 'SOURCE = ""\n'
OF_A_MACHINE = re.compile(r"/(?:home|root|Users|tmp|work|var)/|site-packages|\b[A-Z]:\\")
RUN = """
import sys
from IPython.core.interactiveshell import InteractiveShell
InteractiveShell().run_cell(sys.stdin.read()).raise_error()
"""


def cells(name: str, kind: str) -> list[str]:
    """Return the texts of a lesson's cells of one kind."""
    notebook = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == kind]


def install_cell() -> str:
    return cells(INSTALLING[0], "code")[0]


def test_hosts_and_own_functions_have_lessons() -> None:
    wanted = {"quick_start_colab", "quick_start_kaggle", "own_model", "own_data", "pitfalls"}
    assert wanted <= {name.removesuffix(".ipynb") for name in INSTALLING}


@pytest.mark.parametrize("name", INSTALLING)
def test_the_first_cell_installs_from_one_constant(name: str) -> None:
    first, *others = cells(name, "code")
    assert first == install_cell()
    assert first.count(CONSTANT) == 1
    assert first.index("SOURCE") < first.index("import")
    assert not any("pip install" in cell or "SOURCE" in cell for cell in others)


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_has_no_traces_of_a_machine(name: str) -> None:
    notebook = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["outputs"] for cell in code] == [[]] * len(code)
    assert {cell["execution_count"] for cell in code} == {None}
    texts = cells(name, "code") + cells(name, "markdown")
    assert [text for text in texts if OF_A_MACHINE.search(text)] == []


@pytest.mark.parametrize("name", LESSONS)
def test_cells_have_unique_ids_and_the_first_is_a_title(name: str) -> None:
    notebook = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    assert cells(name, "markdown")[0].startswith("# ")
    assert notebook["cells"][0]["cell_type"] == "markdown"


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


def run_there(python: Path, cell: str) -> subprocess.CompletedProcess[str]:
    """Run a cell in that environment, with IPython from the environment of the tests.

    The workbench is only linked there, so the cell does not find it.
    """
    environment = {**os.environ, "PYTHONPATH": sysconfig.get_path("purelib"), "PIP_NO_INDEX": "1"}
    return subprocess.run(
        [str(python), "-P", "-c", RUN],
        input=cell,
        env=environment,
        cwd=python.parent,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_an_install_without_a_source_names_the_constant_to_set(elsewhere: Path) -> None:
    done = run_there(elsewhere, install_cell())
    assert "SOURCE must say where the workbench is installed from" in done.stderr + done.stdout


@pytest.mark.slow
def test_a_wheel_is_installed_into_the_kernels_own_environment(
    elsewhere: Path, tmp_path: Path
) -> None:
    info = "greeting-1.0.dist-info"
    wheel = tmp_path / "a folder" / "greeting-1.0-py3-none-any.whl"
    wheel.parent.mkdir()
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("greeting.py", 'WORDS = "hello from the wheel"\n')
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n")
        file.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(f"{info}/RECORD", "")
    named = install_cell().replace(CONSTANT, f'SOURCE = "{wheel}"\n')
    done = run_there(elsewhere, f"{named}\nimport greeting\nprint(greeting.WORDS)")
    assert done.returncode == 0, done.stderr
    assert "hello from the wheel" in done.stdout
