"""A part is run, and what fails in it is run once more by itself."""

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
"""Where more files than this have failures, luck is no explanation: there is no second chance."""
FAILURES = 1
"""The exit status of a session of pytest that ran to its end with failures."""


@dataclass(frozen=True)
class Outcomes:
    """How a session of pytest went, by the name of each test."""

    tests: Mapping[str, str] = field(default_factory=dict)
    """passed, failed or skipped."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    """The first line of the error of each test that failed."""
    uncollected: Mapping[str, str] = field(default_factory=dict)
    """The same of what could not be collected, and of a session that broke off."""


@dataclass(frozen=True)
class Result:
    """How a part went in the end."""

    part: str
    wall_seconds: float
    counts: Counter[str]
    """Tests by outcome: passed, failed, skipped."""
    seconds: Mapping[str, float]
    """What each test took, in seconds, in the first pass."""
    failed: Mapping[str, str]
    """The first line of the error of what failed and had no second chance, or failed again."""
    flaky: Mapping[str, str]
    """The same of what failed and then passed by itself."""


def run(part: Part, folder: Path = ROOT) -> Result:
    """Run a part in a folder; give what fails a second chance."""
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
    """Run pytest in a process of its own and return what it told."""
    with tempfile.TemporaryDirectory(prefix="suite-") as place:
        path = Path(place) / "outcomes.json"
        plugin = ("-p", "tests.suite.outcomes", f"--outcomes={path}")
        command = [sys.executable, "-m", "pytest", "--quiet", *plugin, *arguments]
        status = subprocess.run(command, cwd=folder, check=False).returncode
        told = Outcomes(**json.loads(path.read_text())) if path.exists() else Outcomes()
    if status == 0 or told.uncollected or (status == FAILURES and told.errors):
        return told
    broken = {"the session": f"pytest ended with status {status}; its output tells why"}
    return Outcomes(told.tests, told.seconds, told.errors, broken)


def file_of(test: str) -> str:
    """Return the file of a test."""
    return test.partition("::")[0]


def by_file(tests: Iterable[str]) -> dict[str, list[str]]:
    """Return, for each file, what to give pytest to run of it again: of a notebook, all of it."""
    files: dict[str, list[str]] = {}
    for test in tests:
        file = file_of(test)
        again = files.setdefault(file, [])
        if not file.endswith(".ipynb"):
            again.append(test)
        elif not again:
            again += ["--nbval-lax", file]
    return files
