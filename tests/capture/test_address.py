"""The address of a notebook's function, for a config in code."""

import re
from pathlib import Path

import pytest

from tests.capture.notebook import opened
from workbench.capture.address import address_of
from workbench.config import ConfigError
from workbench.runs.programs.own_data import inspect_data

CELL = """
    SIZE = 12

    def load_data():
        part = [[number] for number in range(SIZE)], list(range(SIZE))
        return part, part
"""


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
