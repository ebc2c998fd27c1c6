"""Fields: typed text becomes a value, or a problem with a fix."""

from __future__ import annotations

from typing import Any

import pytest

from workbench import catalog
from workbench.widgets.form.fields import (
    CheckField,
    ChoiceField,
    NumberField,
    RadioField,
    TextField,
    UnreadableError,
)
from workbench.widgets.form.function_field import model_field
from workbench.widgets.form.special_fields import DevicesField, gpu_memory_field


@pytest.mark.parametrize("typed", ["10,000", " 10 000 ", "10_000", "1e4"])
def test_whole_numbers_as_people_type_them(typed: str) -> None:
    field = NumberField("epochs", "Epochs", whole=True)
    field.control.value = typed
    assert field.read() == 10_000
    assert type(field.read()) is int


NOT_WHOLE = ["", "ten", "1.5", "nan", "inf", "1e400", "__import__('os')"]
ODD_GROUPS = ["0,001", "1,5", "10,00", "1,0000", "1,000_000", "12 34", "0,100", "024"]


@pytest.mark.parametrize("typed", [*NOT_WHOLE, *ODD_GROUPS])
def test_text_that_is_no_whole_number_is_refused_with_an_example(typed: str) -> None:
    field = NumberField("epochs", "Epochs", whole=True)
    field.control.value = typed
    with pytest.raises(UnreadableError) as caught:
        field.read()
    assert caught.value.rule == "a whole number"
    assert caught.value.got == (typed.strip() or "nothing")
    assert "64" in caught.value.fix


@pytest.mark.parametrize("typed", ["0,001", "0,1", "1,5", "1,000"])
def test_a_comma_in_a_decimal_number_is_a_problem_that_shows_the_point(typed: str) -> None:
    field = NumberField("learning_rate", "Learning rate", whole=False)
    field.control.value = typed
    with pytest.raises(UnreadableError) as caught:
        field.read()
    assert caught.value.got == typed
    assert typed.replace(",", ".") in caught.value.fix


def test_an_optional_number_may_be_empty_and_hints_at_the_chosen_value() -> None:
    field = NumberField("replicas", "Replicas", whole=True, optional=True)
    field.write(None)
    field.hint("2, automatic")
    assert field.read() is None
    assert field.control.placeholder == "2, automatic"


@pytest.mark.parametrize("value", [0.001, 1.0, 0.1, 1e-7, 0.0012345678])
def test_numbers_survive_writing_and_reading(value: float) -> None:
    field = NumberField("learning_rate", "Learning rate", whole=False)
    field.write(value)
    assert field.read() == value


@pytest.mark.parametrize("kind", [RadioField, ChoiceField])
def test_a_value_that_is_not_in_the_table_is_kept_for_the_plan_to_judge(kind: Any) -> None:
    field = kind("optimizer", "Optimizer", catalog.OPTIMIZERS)
    field.write("no such thing")
    assert field.read() == "no such thing"


def test_problems_are_shown_and_escaped() -> None:
    field = TextField("name", "Name")
    assert len(field.box.children) == 2  # the line of problems is made at the first problem
    field.show_problems(["must not be <b>bold</b>"])
    assert "&lt;b&gt;" in field.box.children[-1].value
    field.show_problems([])
    assert field.box.children[-1].value == field.problems == ""


def test_a_change_is_reported_once() -> None:
    changes: list[int] = []
    field = CheckField("eager", "Run eagerly")
    field.on_change(lambda: changes.append(1))
    field.control.value = True
    assert changes == [1]
    assert field.read() is True


def test_own_model_shows_its_field_and_must_be_named() -> None:
    field = model_field()
    assert field.read() is None
    field.control.value = "own function"
    assert field.box.children[2].layout.display is None
    with pytest.raises(UnreadableError):
        field.read()
    field.write("my_models.py:make")
    assert field.read() == "my_models.py:make"
    field.write("cnn")
    assert field.read() == "cnn"
    assert field.box.children[2].layout.display == "none"


def test_ticked_devices_survive_a_new_inspection_of_the_machine() -> None:
    field = DevicesField(["CPU:0", "GPU:0", "GPU:1"])
    assert field.read() is None
    field.write(("GPU:1",))
    field.offer(["CPU:0"])
    assert field.read() == ("GPU:1",)
    field.write(None)
    assert field.read() is None


@pytest.mark.parametrize("value", ["growth", "all", 2048])
def test_gpu_memory_is_a_word_or_a_limit(value: str | int) -> None:
    field = gpu_memory_field()
    field.write(value)
    assert field.read() == value
