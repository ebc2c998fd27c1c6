"""The run of a part, and the second run of its failed tests, alone."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.suite.parts import ROOT, Part

MOST_FILES = 5
"""If more files than this have failures, chance does not explain them, and no test runs again."""
FAILURES = 1
"""The exit status of a session of pytest that ran to its end with failures."""


@dataclass(frozen=True)
class Outcomes:
    """The results of a session of pytest, by the name of each test."""

    tests: Mapping[str, str] = field(default_factory=dict)
    """The outcome: passed, failed or skipped."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    """The first line of the error of each test that failed."""
    uncollected: Mapping[str, str] = field(default_factory=dict)
    """The first line of the error of each file that could not be collected.

    A session that ended too early also has an entry.
    """


@dataclass(frozen=True)
class Result:
    """The final result of a part."""

    part: str
    wall_seconds: float
    counts: Counter[str]
    """Tests by outcome: passed, failed, skipped."""
    seconds: Mapping[str, float]
    """The time of each test in the first pass, in seconds."""
    failed: Mapping[str, str]
    """The first line of the error of each test that failed and did not pass in a second run."""
    flaky: Mapping[str, str]
    """The first line of the error of each test that failed and then passed alone."""


def run(part: Part, folder: Path = ROOT) -> Result:
    """Run a part in a folder, and run its failed tests a second time."""
    began = time.monotonic()
    first = pytest([*part.options, *part.targets], folder)
    flaky: dict[str, str] = {}
    files = by_file(first.errors)
    if len(files) <= MOST_FILES and not first.uncollected:
        for file, tests in files.items():
            print(f"\n== Once more, alone: {', '.join(tests)}", flush=True)
            second = pytest(tests, folder)
            flaky |= {
                test: first.errors[test]
                for test in first.errors
                if file_of(test) == file and second.tests.get(test) == "passed"
            }
    failed = {test: error for test, error in first.errors.items() if test not in flaky}
    counts = Counter(first.tests.values())
    counts["failed"] += len(first.uncollected) - len(flaky)
    counts["passed"] += len(flaky)
    wall_seconds = time.monotonic() - began
    failed = {**first.uncollected, **failed}
    return Result(part.name, wall_seconds, counts, first.seconds, failed, flaky)


def pytest(arguments: Sequence[str], folder: Path) -> Outcomes:
    """Run pytest in a separate process and return its results."""
    with tempfile.TemporaryDirectory(prefix="suite-") as place:
        path = Path(place) / "outcomes.json"
        plugin = ("-p", "tests.suite.outcomes", f"--outcomes={path}")
        command = [sys.executable, "-m", "pytest", "--quiet", *plugin, *arguments]
        status = subprocess.run(command, cwd=folder, check=False).returncode
        outcomes = Outcomes(**json.loads(path.read_text())) if path.exists() else Outcomes()
    if status == 0 or outcomes.uncollected or (status == FAILURES and outcomes.errors):
        return outcomes
    broken = {"the session": f"pytest ended with status {status}; its output shows the reason"}
    return Outcomes(outcomes.tests, outcomes.seconds, outcomes.errors, broken)


def file_of(test: str) -> str:
    """Return the file of a test."""
    return test.partition("::")[0]


def by_file(tests: Iterable[str]) -> dict[str, list[str]]:
    """Return, for each file, the arguments of pytest to run its tests again.

    A notebook is always run completely.
    """
    files: dict[str, list[str]] = {}
    for test in tests:
        file = file_of(test)
        again = files.setdefault(file, [])
        if not file.endswith(".ipynb"):
            again.append(test)
        elif not again:
            again += ["--nbval-lax", file]
    return files
