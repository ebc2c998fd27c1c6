"""Tests of the second run: a test that fails twice is failed, a test that fails once is flaky."""

from pathlib import Path

import nbformat
import pytest

from tests.suite.parts import ROOT, Part
from tests.suite.session import Result, by_file, run

PASSES = "def test_it(): pass\n"
FAILS = "def test_it(): assert 1 == 2, 'never'\n"
FAILS_ONCE = """
import pathlib
def test_it():
    marker = pathlib.Path({marker!r})
    if not marker.exists():
        marker.touch()
        raise OSError("the disk is away")
"""
FAILS_BESIDE_OTHERS = """
seen = []
def test_one(): seen.append(1)
def test_two(): assert not seen, seen
"""
DIES_ONCE = FAILS_ONCE.replace('raise OSError("the disk is away")', "import os; os._exit(3)")
SKIPS = "import pytest\ndef test_it(): pytest.skip('not here')\n"
FAILS_THEN_SKIPS = FAILS_ONCE.replace(
    "raise OSError", "raise OSError('away')\n    __import__('pytest').skip"
)
CELL_FAILS_ONCE = """import pathlib
marker = pathlib.Path("cell.marker")
there = marker.exists()
marker.touch()
assert there
"""
CANNOT_BE_COLLECTED = "import nothing_of_that_name\n"
SIDE_BY_SIDE = ("-p", "xdist", "--numprocesses", "2", "--dist", "loadfile")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of tests, from which the plugin of the command can be imported."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # plugins take seconds to load
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    return tmp_path


def result_of(place: Path, *options: str, **files: str) -> Result:
    """Run test files with these texts as one part, and return its result."""
    for name, text in files.items():
        (place / f"test_{name}.py").write_text(text.format(marker=str(place / f"{name}.marker")))
    return run(Part("planted", (".",), ("-p", "no:cacheprovider", *options)), place)


def test_a_test_that_passes_is_counted_and_timed(place: Path) -> None:
    result = result_of(place, passes=PASSES)
    assert (result.counts["passed"], result.counts["failed"]) == (1, 0)
    assert list(result.seconds) == ["test_passes.py::test_it"]
    assert not result.failed
    assert not result.flaky


def test_a_test_that_fails_twice_is_a_failure_with_the_first_line_of_its_error(place: Path) -> None:
    result = result_of(place, passes=PASSES, fails=FAILS)
    assert result.failed == {"test_fails.py::test_it": "AssertionError: never"}
    assert not result.flaky
    assert (result.counts["passed"], result.counts["failed"]) == (1, 1)


@pytest.mark.parametrize("options", [(), SIDE_BY_SIDE])
def test_a_test_that_fails_once_counts_as_passed_and_is_listed(
    place: Path, options: tuple[str, ...]
) -> None:
    result = result_of(place, *options, luck=FAILS_ONCE, fails=FAILS)
    assert result.flaky == {"test_luck.py::test_it": "OSError: the disk is away"}
    assert list(result.failed) == ["test_fails.py::test_it"]
    assert (result.counts["passed"], result.counts["failed"]) == (1, 1)


def test_a_skipped_test_is_counted_separately_and_does_not_pass(place: Path) -> None:
    result = result_of(place, skips=SKIPS, passes=PASSES, changes=FAILS_THEN_SKIPS)
    assert (result.counts["skipped"], result.counts["passed"]) == (1, 1)
    assert list(result.failed) == ["test_changes.py::test_it"]


def test_only_failed_tests_run_again(place: Path) -> None:
    result = result_of(place, neighbours=FAILS_BESIDE_OTHERS)
    assert list(result.flaky) == ["test_neighbours.py::test_two"]


def test_a_test_whose_process_dies_runs_again(place: Path) -> None:
    result = result_of(place, *SIDE_BY_SIDE, dies=DIES_ONCE, passes=PASSES)
    assert list(result.flaky) == ["test_dies.py::test_it"]
    assert not result.failed


def test_failures_in_more_than_five_files_do_not_run_again(place: Path) -> None:
    result = result_of(place, **{f"luck{number}": FAILS_ONCE for number in range(6)})
    assert len(result.failed) == 6
    assert not result.flaky


def test_a_file_that_cannot_be_collected_is_a_failure(place: Path) -> None:
    result = result_of(place, broken=CANNOT_BE_COLLECTED, passes=PASSES)
    assert result.failed == {
        "test_broken.py": "ModuleNotFoundError: No module named 'nothing_of_that_name'"
    }
    assert result.counts["failed"] == 1


def test_a_session_that_ends_too_early_is_a_failure(place: Path) -> None:
    result = result_of(place, "--no-such-option", passes=PASSES)
    assert result.failed == {
        "the session": "pytest ended with status 4; its output shows the reason"
    }


def test_all_cells_of_a_notebook_run_again() -> None:
    tests = ["a.py::one", "b.ipynb::Cell 3", "a.py::two[x::y]", "b.ipynb::Cell 5"]
    assert by_file(tests) == {
        "a.py": ["a.py::one", "a.py::two[x::y]"],
        "b.ipynb": ["--nbval-lax", "b.ipynb"],
    }


@pytest.mark.slow
def test_a_notebook_that_fails_once_counts_as_passed(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL_FAILS_ONCE)])
    nbformat.write(notebook, place / "luck.ipynb")
    result = run(Part("notebooks", ("luck.ipynb",), ("--nbval-lax",)), place)
    assert list(result.flaky) == ["luck.ipynb::Cell 0"]
    assert not result.failed
