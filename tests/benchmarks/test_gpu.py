"""Test that the script for GPUs runs to its end on a machine without one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.devices import detect

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.skipif(bool(detect().gpus), reason="this machine has a GPU")
def test_without_a_gpu_it_runs_on_the_cpu_and_says_so(tmp_path: Path) -> None:
    out = tmp_path / "figures.json"
    command = [sys.executable, "-m", "tests.gpu", "--out", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(out.read_text())
    assert figures["device"] == "no GPU: this is the CPU"
    assert figures["NCCL"] == "not tried: it needs 2 GPUs"
    assert {"mlp: recorded over alone", "cnn: recorded over alone"} <= figures.keys()
