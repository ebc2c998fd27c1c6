"""The notebook: the script's own functions, in cells."""

import ast
import json
from typing import Any

import nbformat
import pytest

from tests.codegen.golden import CONFIGS, render
from tests.machines import LAPTOP
from workbench.codegen import render_notebook
from workbench.config import RunConfig
from workbench.plan import make_plan

TASKS = {
    "multi_worker_fit_synthetic": '{"worker": 2}',
    "parameter_server_custom_synthetic": '{"chief": 1, "worker": 2, "ps": 1}',
    "parameter_server_fit_synthetic": '{"chief": 1, "worker": 2, "ps": 1}',
}
ALONE = [name for name in CONFIGS if name not in TASKS]


def notebook(name: str) -> Any:
    return nbformat.reads(render_notebook(make_plan(CONFIGS[name], LAPTOP)), as_version=4)


def cells(name: str) -> list[str]:
    return [cell.source for cell in notebook(name).cells if cell.cell_type == "code"]


@pytest.mark.parametrize("name", CONFIGS)
def test_it_is_a_valid_notebook(name: str) -> None:
    nbformat.validate(notebook(name))
    text = render_notebook(make_plan(CONFIGS[name], LAPTOP))
    assert text == json.dumps(json.loads(text), indent=1) + "\n"


@pytest.mark.parametrize("name", ALONE)
def test_the_cells_together_are_the_script(name: str) -> None:
    title, *statements, entry = ast.parse(render(name)).body
    joined = ast.parse("\n\n".join(cells(name))).body
    assert isinstance(entry, ast.If)
    # A notebook takes no flags.
    statements = [node for node in statements if ast.unparse(node) != "import argparse"]
    assert [ast.dump(node) for node in joined[:-1]] == [ast.dump(node) for node in statements]
    assert ast.unparse(entry.body[-1]) == "main(parser.parse_args().run_dir)"
    assert ast.unparse(joined[-1]) == "main('run')"
    heading = notebook(name).cells[0]
    assert heading.cell_type == "markdown"
    assert ast.literal_eval(title.value).rstrip(".") in heading.source


@pytest.mark.parametrize("name", TASKS)
def test_with_several_tasks_one_cell_writes_the_script_and_one_launches_it(name: str) -> None:
    written, launch = cells(name)
    magic, _, text = written.partition("\n")
    assert magic == "%%writefile from_notebook.py"
    assert text.rstrip() == render(name).rstrip()
    assert launch.endswith(f'start_tasks("from_notebook.py", {TASKS[name]})')


def test_a_notebook_starts_no_evaluator_so_the_chief_tests() -> None:
    config = RunConfig(strategy="parameter_server", evaluator=True)
    text = render_notebook(make_plan(config, LAPTOP))
    assert "tester.evaluate(test_batches" in text
    assert "def evaluate_checkpoints" not in text


@pytest.mark.parametrize("name", ALONE)
def test_each_cell_is_valid_code_and_one_slot(name: str) -> None:
    for text in cells(name):
        ast.parse(text)
    makers = [text for text in cells(name) if "def make_strategy" in text]
    assert len(makers) == 1
    assert "def make_model" not in makers[0]


def test_the_notebook_has_no_outputs_and_unique_cell_ids() -> None:
    made = notebook("default_custom_synthetic")
    assert len({cell.id for cell in made.cells}) == len(made.cells)
    assert all(cell.outputs == [] for cell in made.cells if cell.cell_type == "code")


@pytest.mark.parametrize("name", ALONE)
def test_a_lesson_has_a_few_cells_each_with_prose_before_it(name: str) -> None:
    kinds = [cell.cell_type for cell in notebook(name).cells]
    assert 8 <= len(kinds) <= 12
    assert kinds == ["markdown", "code"] * (len(kinds) // 2)
