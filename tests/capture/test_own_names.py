"""Tests of the names of captured functions that scripts already use."""

from collections.abc import Iterator

import pytest

from workbench.capture import capture
from workbench.capture.own_names import with_own_names

from .notebook import Notebook, opened


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
