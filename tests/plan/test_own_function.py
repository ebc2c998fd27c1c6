"""The user's own function in a file: a file alone, and a file that does not exist."""

from pathlib import Path

import pytest

from tests.machines import LAPTOP
from workbench import RunConfig
from workbench.plan import PlanError, make_plan
from workbench.plan.problems import Problem


def problem_of(model: str) -> Problem:
    with pytest.raises(PlanError) as caught:
        make_plan(RunConfig(model=model), LAPTOP)
    (problem,) = caught.value.problems
    return problem


def test_a_file_without_a_function_offers_the_functions_that_it_has(tmp_path: Path) -> None:
    file = tmp_path / "my_model.py"
    file.write_text("def narrow():\n    pass\n\n\ndef wide():\n    pass\n", encoding="utf-8")
    assert problem_of(str(file)).fix == f"Write {file}:narrow or {file}:wide."
    file.write_text("x = 1\n", encoding="utf-8")
    assert problem_of(str(file)).fix == "Define a function in my_model.py."


@pytest.mark.parametrize("field", ["data", "model"])
@pytest.mark.parametrize("function", ["", ":build"])
def test_a_notebook_is_no_module(field: str, function: str) -> None:
    with pytest.raises(PlanError) as caught:
        make_plan(RunConfig(**{"model": "my:build", field: f"work/mine.ipynb{function}"}), LAPTOP)
    problem = next(each for each in caught.value.problems if each.field == field)
    assert "a notebook cannot be imported" in problem.rule
    name = "build" if function else {"data": "load_data", "model": "build_model"}[field]
    assert f"name it work/mine.py:{name}" in problem.fix
    assert f"Workbench({field}={name})" in problem.fix


@pytest.mark.parametrize("address", ["mine.py", "mine.py:build", "models/mine.py:build"])
def test_a_missing_file_is_reported_with_the_folder_that_was_searched(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    problem = problem_of(address)
    assert problem.rule == "a file that exists"
    assert f"It was not found in {tmp_path / Path(address).parent}" in problem.fix


def own(folder: Path, name: str, text: str = "def build(): ...\n") -> str:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return f"{path}:build"


@pytest.mark.parametrize(
    ("name", "text", "rule", "fix"),
    [
        ("train.py", "", "name of a module that the run imports", "for example my_train.py."),
        ("random.py", "", "name of a module that the run imports", "for example my_random.py."),
        ("a.model.py", "", "one dot in its name", "Rename it a_model.py."),
        ("models.py", "from .parts import Wide\n", "relative imports", "package.models:function"),
    ],
)
def test_a_file_that_no_script_can_import_is_refused(
    name: str, text: str, rule: str, fix: str, tmp_path: Path
) -> None:
    problem = problem_of(own(tmp_path, name, f"{text}def build(): ...\n"))
    assert rule in problem.rule
    assert problem.got == name
    assert fix in problem.fix


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    step, model = own(tmp_path / "a", "mine.py"), own(tmp_path / "b", "mine.py")
    with pytest.raises(PlanError) as caught:
        make_plan(RunConfig(model=model, step=step), LAPTOP)
    (problem,) = caught.value.problems
    assert problem.got == "two files called mine.py"
    folders = {tmp_path / "a", tmp_path / "b"}
    assert all(str(folder) in problem.fix for folder in folders)


def test_one_file_can_hold_several_functions(tmp_path: Path) -> None:
    own(tmp_path, "mine.py", "def build(): ...\n\n\ndef step(): ...\n")
    config = RunConfig(model=f"{tmp_path}/mine.py:build", step=f"{tmp_path}/mine.py:step")
    plan = make_plan(config, LAPTOP)
    for own_function in (plan.own_model, plan.own_step):
        assert own_function is not None
        assert own_function.module == "mine"
