"""Runs and terminals, which are ended after the tests."""

from tests.cli.conftest import terminal
from tests.runs.conftest import runs

__all__ = ["runs", "terminal"]
