"""The flags of a config: one a field, and its help says what it takes."""

import argparse

import pytest

from workbench import catalog
from workbench.cli.flags import add_config_flags
from workbench.field_help import FIELD_HELP


def words_of(field: str) -> str:
    parser = argparse.ArgumentParser()
    add_config_flags(parser)
    (action,) = [action for action in parser._actions if action.dest == field]
    return str(action.help)


@pytest.mark.parametrize("field", catalog.CHOICES)
def test_a_flag_of_a_table_names_every_row(field: str) -> None:
    assert f"One of: {', '.join(catalog.CHOICES[field])}." in words_of(field)


def test_of_what_is_compared_a_choice_of_two_is_given_as_on_and_off() -> None:
    parser = argparse.ArgumentParser()
    add_config_flags(parser, several=["xla"])
    assert parser.parse_args(["--xla", "off", "on", "both"]).xla == [False, True, "both"]
    assert parser.parse_args([]).xla is None


@pytest.mark.parametrize("field", FIELD_HELP)
def test_every_flag_says_what_its_field_is(field: str) -> None:
    assert words_of(field).startswith(FIELD_HELP[field])
