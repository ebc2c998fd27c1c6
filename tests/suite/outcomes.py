"""A pytest plugin that writes the results of a session as JSON to the file of `--outcomes`."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

RANK = {"passed": 0, "skipped": 1, "failed": 2}
"""The rank of each outcome.

A test has a report for its set-up, its call and its end; the outcome of the highest rank counts.
"""
NO_MESSAGE = "no message"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--outcomes", type=Path, help="write the results of the session to this file")


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("--outcomes")
    if path is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Outcomes(path))


class Outcomes:
    """A collector of the reports from all workers."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tests: dict[str, str] = {}
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.errors: dict[str, str] = {}
        self.uncollected: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        test, outcome = report.nodeid, report.outcome
        self.tests[test] = max(self.tests.get(test, outcome), outcome, key=RANK.__getitem__)
        self.seconds[test] += report.duration
        if report.failed:
            self.errors.setdefault(test, first_line(report))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.uncollected[report.nodeid] = first_line(report)

    def pytest_sessionfinish(self) -> None:
        results = {
            "tests": self.tests,
            "seconds": {test: round(seconds, 2) for test, seconds in self.seconds.items()},
            "errors": self.errors,
            "uncollected": self.uncollected,
        }
        self.path.write_text(json.dumps(results))


def first_line(report: Any) -> str:
    """Return the first line of a report's error."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else report.longreprtext
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    # If no traceback is recorded, as for a file that cannot be collected, an E marks the error.
    marked = [line.removeprefix("E ").strip() for line in lines if line.startswith("E ")]
    return next(iter(marked or lines), NO_MESSAGE)
