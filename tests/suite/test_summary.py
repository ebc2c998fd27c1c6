"""Tests of the summary that a command prints at its end."""

from collections import Counter

from tests.suite.session import Result
from tests.suite.summary import clock, summary

TESTS = Result(
    "tests",
    wall_seconds=125.0,
    counts=Counter(passed=9, failed=1, skipped=2),
    seconds={"a.py::one": 61.0, "a.py::two": 4.0, "b.py::one": 1.0},
    failed={"a.py::one": "AssertionError: " + "x" * 500},
    flaky={"b.py::one": "OSError: gone"},
)
PAGES = Result("pages", 60.0, Counter(passed=14), {}, {"c.py::one": "TimeoutError"}, {})


def test_the_summary_has_times_and_failures_and_ends_with_counts() -> None:
    *rows, last = summary(
        [TESTS, PAGES], {"lint": 5.0, "tests": 125.0, "pages": 60.0}, 31
    ).splitlines()
    assert last == "23 passed, 1 failed, 2 skipped"
    assert {"lint       0:05", "tests      2:05", "pages      1:00", "in all     3:10"} <= set(rows)
    assert "Processes that imported TensorFlow: 31" in rows
    assert "Longest files (the sum of their tests): a.py 1:05, b.py 0:01" in rows
    failed = [line for line in rows if line.startswith("FAILED ")]
    assert [line.split(":")[0] for line in failed] == ["FAILED a.py", "FAILED c.py"]
    assert len(failed[0]) == 160
    assert "FLAKY b.py::one: OSError: gone" in rows


def test_a_time_is_minutes_and_seconds() -> None:
    assert [clock(seconds) for seconds in (0.4, 59.6, 754)] == ["0:00", "1:00", "12:34"]
