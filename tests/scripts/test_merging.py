"""The edits of an opened script stay in the script of changed settings."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from tests.machines import LAPTOP
from tests.scripts.edited import FASHION, SYNTHETIC, edited, opened
from workbench.codegen import render_script
from workbench.plan import make_plan
from workbench.scripts import Merged, Opened
from workbench.scripts.merging import merge

FINISH = "    recorder.finish()"
BY_HAND = (FINISH, f'    print("by hand")\n{FINISH}')
NUMBERED = "".join(f"line_{number} = {number}\n" for number in range(9))


def with_form(script: Opened, **fields: Any) -> Merged:
    """Return the script after the form's fields were changed."""
    config = dataclasses.replace(script.config, **fields)
    return script.merged(render_script(make_plan(config, LAPTOP)))


@pytest.mark.parametrize("name", [SYNTHETIC, FASHION])
def test_without_a_change_in_the_form_it_is_the_opened_script(name: str) -> None:
    script = opened(name, BY_HAND, ("EPOCHS = ", "RUNS = 3  # mine\nEPOCHS = "))
    assert with_form(script) == Merged(script.text, ())


def test_changed_fields_change_their_constants_and_nothing_else() -> None:
    changes = [BY_HAND, ("EPOCHS = ", "# as in the paper\nRUNS = 3\nEPOCHS = ")]
    script = opened(SYNTHETIC, *changes)
    merged = with_form(script, epochs=7, seed=5)
    before = [line for line in script.text.splitlines() if line not in merged.text.splitlines()]
    assert [line.partition(" = ")[0] for line in before] == ["SEED", "EPOCHS"]
    assert merged.left_out == ()
    assert "# as in the paper\nRUNS = 3\nEPOCHS = 7" in merged.text


def test_an_edit_stays_if_another_strategy_replaces_other_functions() -> None:
    merged = with_form(opened(SYNTHETIC, BY_HAND), strategy="mirrored")
    assert 'print("by hand")' in merged.text
    assert "MirroredStrategy(" in merged.text
    assert merged.left_out == ()


def test_edited_lines_that_a_field_replaces_are_named() -> None:
    mine = "    return tf.distribute.OneDeviceStrategy(DEVICES[0])  # mine"
    strategy = next(
        line for line in edited(SYNTHETIC).splitlines() if "tf.distribute.get_strategy()" in line
    )
    merged = with_form(opened(SYNTHETIC, (strategy, mine)), strategy="mirrored")
    assert merged.left_out == (mine,)
    assert mine not in merged.text


def test_edits_next_to_an_edited_model_stay_and_the_model_is_a_function_of_its_own(
    tmp_path: Path,
) -> None:
    script = opened(SYNTHETIC, ("Dense(16,", "Dense(48,"), BY_HAND)
    (kept,) = script.kept
    (tmp_path / "kept.py").write_text(kept.source)
    config = script.with_files({"model": f"{tmp_path / 'kept.py'}:{kept.function}"})
    merged = script.merged(render_script(make_plan(config, LAPTOP)))
    assert "Dense(48," in merged.text
    assert "check_model" in merged.text
    assert BY_HAND[1] in merged.text
    assert merged.left_out == ()


def test_a_constant_that_no_plan_can_use_gets_the_value_of_the_form() -> None:
    epochs = next(each for each in edited(SYNTHETIC).splitlines() if each.startswith("EPOCHS"))
    merged = with_form(opened(SYNTHETIC, BY_HAND, (epochs, "EPOCHS = -1")), epochs=4)
    assert "\nEPOCHS = 4" in merged.text
    assert "EPOCHS = -1" not in merged.text
    assert BY_HAND[1] in merged.text


def test_lines_added_at_one_place_by_both_are_all_there() -> None:
    one = NUMBERED.replace("line_3", "mine = 1\nline_3")
    other = NUMBERED.replace("line_3", "theirs = 1\nline_3")
    merged = merge(NUMBERED, one, other)
    assert merged.text == NUMBERED.replace("line_3", "theirs = 1\nmine = 1\nline_3")


def test_the_same_change_on_both_sides_is_made_once() -> None:
    changed = NUMBERED.replace("line_3", "both = 1\nline_3").replace("line_6 = 6", "line_6 = 7")
    assert merge(NUMBERED, changed, changed) == Merged(changed, ())


def test_neighbouring_lines_are_changed_independently() -> None:
    one = NUMBERED.replace("line_3 = 3", "line_3 = 30")
    other = NUMBERED.replace("line_4 = 4", "line_4 = 40\nline_5 = 0")
    merged = merge(NUMBERED, one, other)
    assert merged.text == other.replace("line_3 = 3\n", "line_3 = 30\n")
    assert merged.left_out == ()


def test_a_merge_that_is_not_python_is_the_wanted_script_with_all_edits_named() -> None:
    before = "def one():\n    return 1\n"
    mine = "def one():\n    if True:\n    \treturn 1\n"
    wanted = "x = (\n    2\n)\n"
    merged = merge(before, mine, wanted)
    assert merged.text == wanted
    assert "    if True:" in merged.left_out
