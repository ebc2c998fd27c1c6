"""Text from a user never becomes code in a script."""

import ast
from pathlib import Path

import pytest

from tests.codegen.golden import OWN_MODEL
from tests.machines import LAPTOP
from workbench import catalog
from workbench.codegen import render_notebook, render_script
from workbench.codegen.constants import literal
from workbench.config import RunConfig
from workbench.plan import make_plan

NASTY = [
    "it's",
    'say "so"',
    "'''",
    '"""',
    '"; import os; os.system("touch hacked"); "',
    "'; import os; os.system('touch hacked'); '",
    "two\nlines",
    "back\\slash\\",
    "\\'\\\"",
    "{SEED} %s $HOME `id`",
    "# a comment",
    "日本語 ñ \u202e \u2028 \x0c \x85 \x1b",
    "\r\n",
]


def with_its_files(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name in catalog.DATA["fashion_mnist"].files:
        (folder / name).touch()
    return folder


def constants_of(tree: ast.Module) -> dict[str, object]:
    assigned = [node for node in tree.body if isinstance(node, ast.Assign)]
    return {
        node.targets[0].id: node.value.value
        for node in assigned
        if isinstance(node.targets[0], ast.Name) and isinstance(node.value, ast.Constant)
    }


def without_constant(tree: ast.Module, name: str) -> str:
    nodes = [
        node
        for node in tree.body
        if not (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name)
    ]
    return ast.unparse(ast.Module(nodes, []))


@pytest.mark.parametrize("text", NASTY)
def test_a_data_folder_is_one_constant_with_exactly_this_text(text: str, tmp_path: Path) -> None:
    plain = with_its_files(tmp_path / "plain")
    odd = with_its_files(tmp_path / text)
    trees = [
        ast.parse(
            render_script(make_plan(RunConfig(data="fashion_mnist", data_dir=str(folder)), LAPTOP))
        )
        for folder in (plain, odd)
    ]
    assert constants_of(trees[1])["DATA_DIR"] == str(odd)
    assert without_constant(trees[0], "DATA_DIR") == without_constant(trees[1], "DATA_DIR")


@pytest.mark.parametrize("text", NASTY)
def test_names_and_interpreters_are_not_in_the_script(text: str) -> None:
    odd = RunConfig(name=text, interpreter=text, data_dir=text)
    plan = make_plan(odd, LAPTOP)
    plain = make_plan(RunConfig(), LAPTOP)
    assert render_script(plan) == render_script(plain)
    assert render_notebook(plan) == render_notebook(plain)


@pytest.mark.parametrize("text", NASTY)
def test_the_path_of_a_custom_model_is_not_in_the_script(text: str, tmp_path: Path) -> None:
    path = tmp_path / text / OWN_MODEL.name
    path.parent.mkdir()
    path.write_bytes(OWN_MODEL.read_bytes())
    scripts = [
        render_script(make_plan(RunConfig(model=f"{file}:build_model"), LAPTOP))
        for file in (OWN_MODEL, path)
    ]
    assert scripts[0] == scripts[1]


@pytest.mark.parametrize("text", NASTY)
def test_a_literal_is_one_line_that_reads_back_the_same(text: str) -> None:
    for value in (text, (text,), (text, "GPU:0")):
        written = literal(value)
        assert ast.literal_eval(written) == value
        assert written.isprintable()
