"""A custom model in the script: imported from its file or module, or lifted from a notebook."""

import ast
from pathlib import Path

import pytest

from tests.codegen.golden import OWN_MODEL, notebook_model, render
from tests.machines import LAPTOP
from workbench.codegen import render_script
from workbench.config import RunConfig
from workbench.plan import PlanError, make_plan
from workbench.runs.functions import keep_function

HEAD = "import tensorflow as tf\n\n\n"


def script(model: str) -> str:
    return render_script(make_plan(RunConfig(model=model), LAPTOP))


def lifted(tmp_path: Path, text: str, function: str = "build") -> str:
    return script(keep_function(text, function, tmp_path))


def problems(tmp_path: Path, text: str, function: str = "build") -> list[str]:
    with pytest.raises(PlanError) as raised:
        lifted(tmp_path, text, function)
    assert {problem.field for problem in raised.value.problems} == {"model"}
    return [f"{problem.rule}|{problem.got}|{problem.fix}" for problem in raised.value.problems]


def imported(text: str) -> list[str]:
    """Return the statements of the script's make_model before its last."""
    door = next(n for n in ast.parse(text).body if getattr(n, "name", "") == "make_model")
    return [ast.unparse(node) for node in door.body[1:-1]]


def test_a_notebooks_function_is_lifted_with_comments_classes_and_constants() -> None:
    body = OWN_MODEL.read_text().split("import tensorflow as tf\n", maxsplit=1)[1].strip()
    assert body in notebook_model()


def test_a_file_is_imported_after_the_devices_are_set_and_sees_no_arguments() -> None:
    assert imported(render("own_model")) == [
        "del sys.argv[1:]",
        "from own_model import build_model",
    ]


@pytest.mark.parametrize("stem", ["my-model", "02 model", "class"])
def test_a_file_whose_name_is_no_name_of_python_is_imported_too(stem: str, tmp_path: Path) -> None:
    path = tmp_path / f"{stem}.py"
    path.write_text("def build(): ...\n")
    text = script(f"{path}:build")
    assert imported(text)[1] == f"build = importlib.import_module('{stem}').build"
    assert "\nimport importlib\n" in text


def test_a_file_may_use_the_names_of_scripts_and_end_with_a_main(tmp_path: Path) -> None:
    path = tmp_path / "models.py"
    path.write_text("SEED = 1\ndef build(): ...\nif __name__ == '__main__':\n    build()\n")
    assert imported(script(f"{path}:build"))[1] == "from models import build"


def test_the_docstring_of_the_file_is_left_out_and_its_imports_are_merged(tmp_path: Path) -> None:
    text = lifted(
        tmp_path,
        '"""Mine."""\nimport math\nfrom json import dumps as write\n' + HEAD + "def build():\n"
        "    return math.pi\n",
    )
    assert "Mine." not in text
    above = text.split("SEED =")[0]
    assert "import math\n" in above
    assert "from json import dumps as write\n" in above


def test_a_module_is_imported_in_the_function_that_makes_the_model() -> None:
    text = script("my_package.models:build")
    assert imported(text) == ["from my_package.models import build"]
    assert "    return prepare_model(build)\n" in text


def test_a_function_called_make_model_keeps_its_name(tmp_path: Path) -> None:
    text = lifted(tmp_path, HEAD + "def make_model():\n    return 1\n", "make_model")
    names = [getattr(node, "name", "") for node in ast.parse(text).body]
    assert names.count("make_model") == 1


@pytest.mark.parametrize("mark", ["\x0c", "\x1c", "\u2028", "\x85"])
def test_unusual_line_separators_stay_inside_strings(mark: str, tmp_path: Path) -> None:
    text = lifted(tmp_path, f'{HEAD}TEXT = "a{mark}b"\n\n\ndef build():\n    return TEXT\n')
    values = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)]
    assert f"a{mark}b" in values


@pytest.mark.parametrize(
    "statement",
    [
        "SEED = 1",
        "EPOCHS: int = 1",
        "def make_batches(): ...",
        "def make_tester(): ...",
        "def main(): ...",
        "from somewhere import shuffled_rows",
        "import os as json",
        "for make_loops in (): ...",
        "def zip(): ...",
        "print = None",
    ],
)
def test_names_that_the_script_uses_itself_are_reported(statement: str, tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, f"{HEAD}{statement}\n\n\ndef build(): ...\n")
    assert "names" in problem
    assert "Rename them in the notebook, or save the function in a file of your own." in problem


def test_all_colliding_names_are_reported_together(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, f"{HEAD}SEED = 1\nEPOCHS = 2\n\n\ndef build(): ...\n")
    assert "|EPOCHS, SEED|" in problem


def test_an_import_that_the_script_has_too_is_no_collision(tmp_path: Path) -> None:
    text = lifted(tmp_path, "import json\nimport numpy as np\n" + HEAD + "def build(): ...\n")
    assert text.count("import numpy as np\n") == 1
