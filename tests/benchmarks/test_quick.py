"""Tests that every benchmark runs to its end, with a verdict.

A few rounds on a busy machine say nothing about speed. So only the limits marked as `always` are
judged here; see `Limit.always`.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.__main__ import NAMES
from tests.benchmarks.report import ALWAYS_MISSED

ROOT = Path(__file__).parents[2]
MEASURED = (0, 1)
"""Exit statuses of a complete benchmark: all limits reached, or a limit missed."""
VERDICT = re.compile(r": (reached|right|MISSED|WRONG)$", re.MULTILINE)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]


@pytest.mark.parametrize("name", NAMES)
def test_it_gives_a_verdict_and_reaches_the_limits_that_do_not_depend_on_speed(name: str) -> None:
    command = [sys.executable, "-m", f"tests.benchmarks.{name}", "--quick"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    printed = done.stdout[-8000:] + done.stderr[-4000:]
    assert done.returncode in MEASURED, printed
    assert "Traceback" not in done.stderr, printed
    verdicts = VERDICT.findall(done.stdout)
    assert verdicts, printed
    assert done.returncode == 0 or {"MISSED", "WRONG"} & set(verdicts), printed
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.endswith(ALWAYS_MISSED)] == [], printed
