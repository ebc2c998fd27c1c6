"""Two texts side by side: nothing is lost, equal lines are folded, differing words are marked."""

from itertools import chain

import pytest

from tests.codegen.golden import CONFIGS, render
from workbench.codegen.carried import BEGIN, split_config
from workbench.scripts import Row, side_by_side, unified


def flat(rows: list[Row]) -> list[Row]:
    return list(chain.from_iterable(row.rows or (row,) for row in rows))


@pytest.mark.parametrize("other", list(CONFIGS)[1:])
def test_each_column_holds_its_complete_text(other: str) -> None:
    left, right = render(next(iter(CONFIGS))), render(other)
    rows = flat(side_by_side(left, right))
    for side, text in (("left", left), ("right", right)):
        lines = [getattr(row, side).text for row in rows if getattr(row, side)]
        assert lines == split_config(text)[0].splitlines()[: len(lines)]
        assert text.splitlines()[len(lines)].startswith(BEGIN)
    numbers = [row.right.number for row in rows if row.right]
    assert numbers == list(range(1, len(numbers) + 1))


def test_the_same_text_is_one_fold() -> None:
    text = render(next(iter(CONFIGS)))
    (row,) = side_by_side(text, text)
    assert row.kind == "folded"
    assert unified(text, text, "one", "other") == ""


def test_differing_words_are_marked_in_similar_lines() -> None:
    (row,) = side_by_side("EPOCHS = 5  # each\n", "EPOCHS = 12  # each\n")
    assert row.left is not None
    assert row.left.pieces == (("EPOCHS = ", False), ("5", True), ("  # each", False))
    (row,) = side_by_side("import gzip\n", "SEED = 42\n")
    assert row.left is not None
    assert row.left.pieces == (("import gzip", True),)


def test_three_lines_stay_around_a_difference() -> None:
    lines = [str(number) for number in range(20)]
    right = [*lines[:10], "new", *lines[10:]]
    kinds = [row.kind for row in side_by_side("\n".join(lines), "\n".join(right))]
    assert kinds == ["folded", *["same"] * 3, "added", *["same"] * 3, "folded"]
