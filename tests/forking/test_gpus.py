"""On a machine with GPUs, a child must first train on them. Here CPUs stand in for GPUs."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.forking.program import gpus

PROVES = (
    "import os, tensorflow; from workbench.forking.program import gpus; "
    "print(gpus.prove('CPU', os.open('/dev/null', os.O_RDONLY)))"
)


@pytest.mark.slow
def test_a_child_trains_on_each_device_of_a_kind() -> None:
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, "-c", PROVES]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.split() == ["0"]


def test_without_gpus_there_is_nothing_to_prove(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpus, "DEVICES", ("no-such-device",))
    assert gpus.why_not(tmp_path, 0) == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("status", "why", "kept"),
    [
        (0, "", True),
        (1, "a forked process could not train on the GPUs in a test", False),
        (
            -signal.SIGKILL,
            "a forked process could not train on the GPUs in a test",
            False,
        ),
        (2, "", False),
        (-signal.SIGALRM, "a forked process needed over 180 s to train on", False),
    ],
)
def test_only_a_successful_proof_is_kept(
    status: int, why: str, kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []
    monkeypatch.setattr(gpus, "DEVICES", ("null",))
    monkeypatch.setattr(gpus, "prove", lambda kind, lock_fd: tried.append(1) or status)
    reasons = [gpus.why_not(tmp_path, 0) for _ in range(2)]
    assert all(each.startswith(why) and bool(each) == bool(why) for each in reasons)
    assert len(tried) == (1 if kept else 2)
    monkeypatch.setattr(gpus, "driver", lambda: "another")
    gpus.why_not(tmp_path, 0)
    assert len(tried) == (2 if kept else 3)


def test_an_unreadable_file_counts_as_missing(tmp_path: Path) -> None:
    (tmp_path / gpus.NAME).write_text(json.dumps([])[:-1])
    assert gpus.known(tmp_path) == {}
