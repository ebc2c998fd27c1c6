"""A custom model in the script: lifted from its file, or imported by name."""

import ast
from pathlib import Path

import pytest

from tests.codegen.golden import OWN_MODEL, render
from tests.machines import LAPTOP
from workbench.codegen import render_script
from workbench.config import RunConfig
from workbench.plan import PlanError, make_plan

HEAD = "import tensorflow as tf\n\n\n"


def script(model: str) -> str:
    return render_script(make_plan(RunConfig(model=model), LAPTOP))


def lifted(tmp_path: Path, text: str, function: str = "build") -> str:
    path = tmp_path / "models.py"
    path.write_text(text, encoding="utf-8")
    return script(f"{path}:{function}")


def problems(tmp_path: Path, text: str, function: str = "build") -> list[str]:
    with pytest.raises(PlanError) as raised:
        lifted(tmp_path, text, function)
    assert {problem.field for problem in raised.value.problems} == {"model"}
    return [f"{problem.rule}|{problem.got}|{problem.fix}" for problem in raised.value.problems]


def test_a_file_is_lifted_with_comments_classes_and_constants() -> None:
    body = OWN_MODEL.read_text().split("import tensorflow as tf\n", maxsplit=1)[1].strip()
    assert body in render("own_model")


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
    model = ast.parse(script("my_package.models:build"))
    door = next(n for n in model.body if getattr(n, "name", "") == "make_model")
    imported, returned = door.body[1:]
    assert ast.unparse(imported) == "from my_package.models import build"
    assert ast.unparse(returned) == "return check_model(build)"


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
        "class Recorder: ...",
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
    assert "Rename them in your file, or give the model as module:function." in problem


def test_all_colliding_names_are_reported_together(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, f"{HEAD}SEED = 1\nEPOCHS = 2\n\n\ndef build(): ...\n")
    assert "|EPOCHS, SEED|" in problem


def test_imported_files_of_the_folder_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "helpers.py").touch()
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "__init__.py").touch()
    build = "def build():\n    import parts.blocks\n    return parts, layer\n"
    assert problems(tmp_path, "from helpers import layer\n" + HEAD + build) == [
        "code that imports only installed packages|helpers, parts from this folder|"
        "Copy the code that it uses into its file, or give the model as module:function."
    ]


def test_a_file_with_the_name_of_an_installed_package_is_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("json", "numpy"):
        (tmp_path / f"{name}.py").touch()
    build = "def build():\n    return json, numpy\n"
    assert "import json\n" in lifted(tmp_path, "import json\nimport numpy\n" + HEAD + build)


def test_an_import_that_the_script_has_too_is_no_collision(tmp_path: Path) -> None:
    text = lifted(tmp_path, "import json\nimport numpy as np\n" + HEAD + "def build(): ...\n")
    assert text.count("import numpy as np\n") == 3  # above, with the recorder and the helpers
