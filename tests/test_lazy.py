"""A package imports each of its names at the first use of the name."""

import subprocess
import sys

import pytest

import workbench.exports

FIRST_USE = """
import sys, workbench.exports
assert "workbench.exports.formats" not in sys.modules
workbench.exports.FORMATS
assert "workbench.exports.formats" in sys.modules
"""


def test_a_name_is_imported_at_its_first_use() -> None:
    subprocess.run([sys.executable, "-c", FIRST_USE], check=True)


def test_all_names_are_listed() -> None:
    assert {"FORMATS", "export_runs", "__all__"} <= set(dir(workbench.exports))


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(AttributeError, match=r"'workbench\.exports' has no attribute 'nothing'"):
        workbench.exports.nothing  # noqa: B018
