"""The address of a notebook's function, and its other names."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.capture.notebook import Notebook, opened
from workbench.capture import capture
from workbench.capture.address import address_of, with_own_names
from workbench.config import ConfigError
from workbench.runs.programs.own_data import inspect_data

CELL = """
    SIZE = 12

    def load_data():
        part = [[number] for number in range(SIZE)], list(range(SIZE))
        return part, part
"""


@pytest.fixture
def notebook() -> Iterator[Notebook]:
    with opened() as notebook:
        yield notebook


def test_constants_and_helpers_that_scripts_have_too_get_other_names(notebook: Notebook) -> None:
    notebook.run(
        "SEED, UNITS = 7, 3",
        "def make_batches():\n    return UNITS",
        "def build():\n    return SEED, make_batches()",
    )
    captured = with_own_names(capture(notebook["build"]), "model")
    assert captured.function == "build"
    assert captured.source == (
        "OWN_SEED = 7\nUNITS = 3\n\n\n"
        "def own_make_batches():\n    return UNITS\n\n\n"
        "def build():\n    return OWN_SEED, own_make_batches()\n"
    )


@pytest.mark.parametrize(
    ("name", "field", "own"),
    [
        ("make_model", "model", "make_model"),
        ("make_model", "data", "own_make_model"),
        ("main", "model", "own_main"),
        ("train_step", "step", "train_step"),
        ("train_step", "model", "own_train_step"),
    ],
)
def test_the_function_keeps_the_name_by_which_scripts_call_it(
    name: str, field: str, own: str, notebook: Notebook
) -> None:
    notebook.run(f"def {name}():\n    return 1")
    captured = with_own_names(capture(notebook[name], field), field)
    assert (captured.function, captured.source) == (own, f"def {own}():\n    return 1\n")


@pytest.mark.parametrize(
    "cells",
    [
        ("SEED = 1", "def helper(SEED):\n    return SEED", "def build():\n    return helper(SEED)"),
        ("SEED, OWN_SEED = 1, 2", "def build():\n    return SEED + OWN_SEED"),
    ],
    ids=["also an argument", "the other name is taken"],
)
def test_a_text_that_could_change_its_meaning_is_left_alone(
    cells: tuple[str, ...], notebook: Notebook
) -> None:
    notebook.run(*cells)
    captured = capture(notebook["build"])
    assert with_own_names(captured, "model") == captured


def test_the_text_is_kept_with_the_runs_and_has_everything_it_uses(tmp_path: Path) -> None:
    with opened() as notebook:
        notebook.run(CELL)
        address = address_of(notebook["load_data"], "data", tmp_path)
        assert address_of(notebook["load_data"], "data", tmp_path) == address
        notebook.run("SIZE = 13")
        assert address_of(notebook["load_data"], "data", tmp_path) != address
    path, function = address.split(":")
    assert function == "load_data"
    assert Path(path).parent == tmp_path / "functions"
    assert Path(path).read_text(encoding="utf-8").startswith("SIZE = 12\n")


def test_an_imported_function_stays_in_its_module(tmp_path: Path) -> None:
    assert (
        address_of(inspect_data, "data", tmp_path)
        == "workbench.runs.programs.own_data:inspect_data"
    )
    assert not any(tmp_path.iterdir())


def test_a_value_that_cannot_be_captured_is_named(tmp_path: Path) -> None:
    with opened() as notebook:
        notebook.run(CELL, "SIZE = object()")
        with pytest.raises(ConfigError, match="load_data with SIZE, an object of the notebook"):
            address_of(notebook["load_data"], "data", tmp_path)


def test_a_notebook_shows_the_reason_below_the_frames_of_its_own_cells(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with opened() as notebook:
        notebook.run(CELL, "SIZE = object()", "from workbench.capture.address import address_of")
        with pytest.raises(ConfigError):
            notebook.run(
                f"def ask():\n    address_of(load_data, 'data', {str(tmp_path)!r})", "ask()"
            )
    shown = capsys.readouterr().out
    cell, function = re.findall(r"File .*, in (\S+)", shown)
    assert cell in ("<module>", "<cell")  # <cell line: 1> in Colab's IPython
    assert function == "ask"
    assert "ConfigError: data must be a function that stands alone" in shown
