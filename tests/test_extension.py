"""The front end's own unit tests, run by Node's test runner."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.promise
@pytest.mark.slow
def test_front_end_unit_tests_pass() -> None:
    done = subprocess.run(
        [sys.executable, "hatch_build.py", "test"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
