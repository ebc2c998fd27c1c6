"""The user's own function in a file: a file alone, and a file that does not exist."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from tests.machines import LAPTOP
from workbench import RunConfig
from workbench.plan import Plan, PlanError, make_plan
from workbench.plan.own_function import TAKEN_APART, UNTESTED, WITH_WEIGHTS
from workbench.plan.plan import DataFacts
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


def planned(facts: DataFacts, **fields: Any) -> Plan:
    return make_plan(RunConfig(data="data:load", model="model:build", **fields), LAPTOP, facts)


def data(kind: str = "arrays", tests: int = 0, given: str = "") -> DataFacts:
    return DataFacts(kind, 640, tests, "features (10,) float32", 40, given=given)


def test_data_may_have_nothing_to_test_on() -> None:
    plan = planned(data())
    assert (plan.num_train_examples, plan.num_test_examples, plan.test_steps) == (640, 0, 0)
    assert not plan.is_tested
    assert UNTESTED["arrays"] in plan.notes
    assert UNTESTED["arrays"] not in planned(data(tests=1)).notes
    assert UNTESTED["dataset"] in planned(data("dataset")).notes


def test_a_validation_split_takes_the_last_examples_as_in_keras() -> None:
    plan = planned(data(), validation_split=0.3, per_replica_batch_size=32)
    assert (plan.num_train_examples, plan.num_test_examples) == (448, 192)
    assert plan.steps_per_epoch == 448 // 64
    assert UNTESTED["arrays"] not in plan.notes


@pytest.mark.parametrize(
    ("facts", "share", "got"),
    [
        (data(tests=64), 0.2, "your data has 64 examples to test on"),
        (data("dataset"), 0.2, "dataset.skip(n) and dataset.take(n)"),
        (DataFacts("arrays", 2, 0, "features (10,) float32", 40), 0.9, "leaves examples to train"),
        (data(), 1.0, "from 0.01 to 0.99"),
        (data(), 0.0, "from 0.01 to 0.99"),
    ],
)
def test_a_split_that_is_impossible_is_one_problem(
    facts: DataFacts, share: float, got: str
) -> None:
    with pytest.raises(PlanError) as caught:
        planned(facts, validation_split=share, per_replica_batch_size=1)
    (problem,) = caught.value.problems
    assert problem.field == "validation_split"
    assert got in f"{problem.rule} {problem.fix}"


def test_an_evaluator_needs_something_to_test_on() -> None:
    fields = {"strategy": "parameter_server", "evaluator": True}
    for kind, ways in ("arrays", "Turn it off, set the"), ("dataset", "Turn it off, or return"):
        with pytest.raises(PlanError) as caught:
            planned(data(kind), **fields)
        (problem,) = caught.value.problems
        assert problem.field == "evaluator"
        assert problem.fix.startswith(ways)
    assert planned(data(), **fields, validation_split=0.2).evaluator
    with pytest.raises(PlanError) as caught:
        planned(data(), **fields, validation_split=1.0)
    assert [problem.field for problem in caught.value.problems] == ["validation_split"]


def test_sample_weights_are_named_as_such() -> None:
    weighted = dataclasses.replace(data(tests=64), form="weighted")
    assert WITH_WEIGHTS in planned(weighted).notes
    assert WITH_WEIGHTS not in planned(data(tests=64)).notes


def test_the_place_to_shuffle_is_said() -> None:
    for given, place in (("", "your function"), ("sequences", "its on_epoch_end")):
        (note,) = [each for each in planned(data("dataset", 64, given)).notes if "resumed" in each]
        assert note.startswith(
            f"The workbench does not shuffle your data: shuffle it in {place}. A resumed run "
        )


def test_asynchronous_workers_share_no_sequence() -> None:
    with pytest.raises(PlanError, match="all of them would read one PyDataset"):
        planned(data("dataset", 64, "sequences"), strategy="parameter_server")
    planned(data("dataset", 64, "generators"), strategy="parameter_server")


def test_batches_are_said_to_be_taken_apart_and_into_what() -> None:
    for given, text in TAKEN_APART.items():
        (note,) = [each for each in planned(data("dataset", 64, given)).notes if "apart" in each]
        assert note == text.format(example="features (10,) float32")
