"""One's own model in the script: lifted whole from a file, or imported by name."""

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


def test_its_own_docstring_stays_out_and_its_imports_join_the_others(tmp_path: Path) -> None:
    text = lifted(
        tmp_path,
        '"""Mine."""\nimport math\nfrom json import dumps as write\n' + HEAD + "def build():\n"
        "    return math.pi\n",
    )
    assert "Mine." not in text
    above = text.split("SEED =")[0]
    assert "import math\n" in above
    assert "from json import dumps as write\n" in above


def test_a_module_is_imported_where_the_model_is_made() -> None:
    model = ast.parse(script("my_package.models:build"))
    door = next(n for n in model.body if getattr(n, "name", "") == "make_model")
    imported, returned = door.body[1:]
    assert ast.unparse(imported) == "from my_package.models import build"
    assert ast.unparse(returned) == "return check_model(build)"


def test_a_function_of_the_very_name_make_model_keeps_it(tmp_path: Path) -> None:
    text = lifted(tmp_path, HEAD + "def make_model():\n    return 1\n", "make_model")
    names = [getattr(node, "name", "") for node in ast.parse(text).body]
    assert names.count("make_model") == 1


@pytest.mark.parametrize("mark", ["\x0c", "\x1c", "\u2028", "\x85"])
def test_marks_that_only_some_take_for_line_ends_stay_inside_their_text(
    mark: str, tmp_path: Path
) -> None:
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


def test_all_names_that_collide_are_reported_at_once(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, f"{HEAD}SEED = 1\nEPOCHS = 2\n\n\ndef build(): ...\n")
    assert "|EPOCHS, SEED|" in problem


def test_files_of_the_folder_that_it_imports_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "helpers.py").touch()
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "__init__.py").touch()
    build = "def build():\n    import parts.blocks\n    return parts, layer\n"
    assert problems(tmp_path, "from helpers import layer\n" + HEAD + build) == [
        "code that imports only what is installed|helpers, parts, of this folder|"
        "Write what it uses of that beside it, or give the model as module:function."
    ]


def test_a_file_of_the_folder_named_like_what_is_installed_is_not_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("json", "numpy"):
        (tmp_path / f"{name}.py").touch()
    build = "def build():\n    return json, numpy\n"
    assert "import json\n" in lifted(tmp_path, "import json\nimport numpy\n" + HEAD + build)


def test_the_same_import_as_the_script_has_is_no_collision(tmp_path: Path) -> None:
    text = lifted(tmp_path, "import json\nimport numpy as np\n" + HEAD + "def build(): ...\n")
    assert text.count("import numpy as np\n") == 2  # above, and with the recorder
