"""Tests of the parts that each command runs."""

import subprocess
import sys

import pytest

from tests.suite.parts import FIRST_NOTEBOOK, ROOT, parts_of, rooms, target_of


def test_make_test_runs_quick_tests_and_promises() -> None:
    tests, pages = parts_of("test", None)
    assert (tests.name, pages.name) == ("tests", "pages")
    assert FIRST_NOTEBOOK in tests.targets
    assert (ROOT / FIRST_NOTEBOOK).is_file()
    assert tests.options[-1] == "(not slow or promise) and not browser"
    assert pages.options[:2] == ("-m", "promise")


def test_make_test_all_runs_all_tests() -> None:
    tests, pages, benchmarks = parts_of("all", None)
    assert tests.targets == ("tests", "notebooks")
    assert tests.options[-4:] == ("--ignore", "tests/benchmarks", "-m", "not browser")
    assert (pages.targets, pages.options) == (("tests/browser",), ())
    assert (benchmarks.targets, benchmarks.options) == (("tests/benchmarks",), ())


def test_a_room_runs_alone() -> None:
    (engine,) = parts_of("all", "engine")
    assert engine.targets == ("tests/engine",)
    (pages,) = parts_of("all", "browser")
    assert (pages.name, pages.targets) == ("pages", ("tests/browser",))
    assert [part.name for part in parts_of("all", "benchmarks")] == ["benchmarks"]
    assert target_of("docs") == "tests/test_docs.py"
    assert target_of("notebooks") == "notebooks"
    assert {"benchmarks", "colab", "suite", "wheel"} <= set(rooms())


def test_an_unknown_room_is_refused_with_a_list_of_the_rooms() -> None:
    with pytest.raises(ValueError, match=r"one of .*engine.*; got 'engines'"):
        parts_of("all", "engines")
    command = [sys.executable, "-m", "tests.suite", "all", "--room", "engines"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "got 'engines'. Name one of these, or none." in done.stderr
