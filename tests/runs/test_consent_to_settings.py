"""The code that a form executes if it shows the settings of a foreign run, as people see it."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.runs.run_folders import replan
from tests.widgets.folders import write_run
from workbench.runs import Run
from workbench.runs.consent import ForeignSettings, foreign_settings
from workbench.runs.folder.trust import trust


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("WORKBENCH_STATE", str(tmp_path / "state"))
    return write_run(tmp_path / "runs", "stopped")


def code_of(run: Run, agreed: str = "", **settings: Any) -> ForeignSettings | None:
    """Write these settings into the run, and return the code that they name."""
    replan(run, config=replace(run.config, **settings))
    return foreign_settings(run.dir, agreed=agreed)


@pytest.mark.parametrize("field", ["model", "data", "step"])
def test_a_person_sees_the_text_of_each_function_of_a_file(
    field: str, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "own.py").write_text("def own(): ...  # évil\n", encoding="utf-8")
    address = f"{tmp_path / 'own.py'}:own"
    code = code_of(run, **{field: address})
    assert code is not None
    assert code.script == f"# {field}: {address}\ndef own(): ...  # évil\n"
    assert "executes the code that the run's settings name with all your permissions" in str(code)
    assert f"would run {sys.executable} in {Path.cwd()}, with modules from there" in str(code)


def test_a_person_sees_the_text_of_a_module_that_a_run_would_import(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_module.py").write_text("evil = 1\n")
    monkeypatch.chdir(tmp_path)
    code = code_of(run, model="own_module:build")
    assert code is not None
    assert code.script == "# model: own_module:build\nevil = 1\n"
    installed = code_of(run, model="keras.applications:ResNet50")
    assert installed is not None
    assert installed.script.endswith("# An installed module.")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("interpreter", "/evil/python"),
        ("container", "evil.sif"),
        ("job_setup", "module load cuda\nevil"),
    ],
)
def test_a_person_sees_each_program_image_and_line_of_shell(
    field: str, value: str, run: Run
) -> None:
    code = code_of(run, **{field: value})
    assert code is not None
    assert code.script == f"# {field}: {value}"


def test_a_file_that_cannot_be_read_is_named_with_its_problem(run: Run, tmp_path: Path) -> None:
    code = code_of(run, data=f"{tmp_path}/none.py:load")
    assert code is not None
    assert "# It cannot be read: [Errno 2]" in code.script


def test_agreement_is_to_exactly_this_code(run: Run, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("first\n")
    settings = {"model": f"{tmp_path / 'own.py'}:own"}
    code = code_of(run, **settings)
    assert code is not None
    assert code_of(run, code.digest, **settings) is None
    (tmp_path / "own.py").write_text("second\n")
    changed = code_of(run, code.digest, **settings)
    assert changed is not None
    assert "second" in changed.script
    assert code_of(run, changed.digest, **settings, interpreter="/evil/python") is not None


def test_settings_that_name_no_code_need_no_agreement(run: Run) -> None:
    assert code_of(run) is None
    assert code_of(run, interpreter=sys.executable, data="fashion_mnist", model="cnn") is None


def test_a_run_that_this_machine_started_needs_no_agreement(run: Run) -> None:
    assert code_of(run, interpreter="/mine/python") is not None
    trust(run.dir)
    assert foreign_settings(run.dir) is None
