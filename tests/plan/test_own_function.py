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
