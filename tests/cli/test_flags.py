"""The flags of a config: one for each field, with a help text that explains its values."""

import argparse

import pytest

from workbench import catalog
from workbench.cli.flags import add_config_flags
from workbench.fields import FIELDS


def help_of(field: str) -> str:
    parser = argparse.ArgumentParser()
    add_config_flags(parser)
    (action,) = [action for action in parser._actions if action.dest == field]
    return str(action.help)


@pytest.mark.parametrize("field", catalog.CHOICES)
def test_the_help_of_a_choice_names_every_value(field: str) -> None:
    assert f"One of: {', '.join(catalog.CHOICES[field])}." in help_of(field)


def test_a_compared_on_off_field_takes_on_and_off() -> None:
    parser = argparse.ArgumentParser()
    add_config_flags(parser, several=["xla"])
    assert parser.parse_args(["--xla", "off", "on", "both"]).xla == [False, True, "both"]
    assert parser.parse_args([]).xla is None


@pytest.mark.parametrize("field", FIELDS)
def test_every_flag_has_the_help_of_its_field(field: str) -> None:
    assert help_of(field).startswith(FIELDS[field].help)
