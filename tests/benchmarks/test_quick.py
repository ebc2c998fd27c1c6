"""Tests that every benchmark runs to its end; the results of a few rounds are not judged here."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.__main__ import NAMES

ROOT = Path(__file__).parents[2]
MEASURED = (0, 1)
"""Exit statuses of a complete benchmark: all limits reached, or a limit missed."""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]


@pytest.mark.parametrize("name", NAMES)
def test_it_runs(name: str) -> None:
    command = [sys.executable, "-m", f"tests.benchmarks.{name}", "--quick"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in MEASURED, done.stderr[-4000:]
    assert "Traceback" not in done.stderr, done.stdout[-8000:] + done.stderr[-4000:]
    assert done.stdout.strip()
