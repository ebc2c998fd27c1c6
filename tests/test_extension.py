"""The front end's unit tests in Node's test runner; the presets in its settings."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.catalog import PRESETS

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


def test_settings_offer_all_presets() -> None:
    schema = json.loads((ROOT / "extension/schema/server.json").read_text(encoding="utf-8"))
    assert schema["properties"]["preset"]["enum"] == ["", *PRESETS]
