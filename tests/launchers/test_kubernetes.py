"""Jobs on Kubernetes, and the state of their pods."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from workbench.launchers.kubernetes import RESTART_SECONDS, Kubernetes, why_waiting

JOB = "run-20261121-101500-ab12-1"
UNSCHEDULED = {
    "phase": "Pending",
    "conditions": [
        {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.",
        }
    ],
}
NO_IMAGE = {
    "phase": "Pending",
    "containerStatuses": [
        {
            "name": "task",
            "state": {
                "waiting": {
                    "reason": "ImagePullBackOff",
                    "message": 'Back-off pulling image "no-such-image"',
                }
            },
        }
    ],
}
HOUR = 3600.0


def pod(name: str, status: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "Pod", "metadata": {"name": name}, "status": status}


def warning(about: str, message: str) -> dict[str, Any]:
    return {
        "kind": "Event",
        "type": "Warning",
        "metadata": {"name": f"{about}.1"},
        "involvedObject": {"name": about},
        "message": message,
    }


def answer(folder: Path, *items: dict[str, Any], status: int = 0) -> None:
    """Put a stand-in for kubectl into a folder of PATH: it notes its arguments and answers."""
    (folder / "answer").write_text(json.dumps({"kind": "List", "items": items}))
    said = "echo 'The connection to the server was refused' >&2" if status else ""
    kubectl = folder / "kubectl"
    kubectl.write_text(
        f'#!/bin/sh\necho "$@" > {folder}/asked\n/bin/cat {folder}/answer\n{said}\nexit {status}\n'
    )
    kubectl.chmod(0o755)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_pods_that_wait_are_named_with_the_clusters_reason(folder: Path) -> None:
    others = pod("run-20261121-101500-ab12-10-0-x", NO_IMAGE)
    answer(folder, pod(f"{JOB}-0-a", UNSCHEDULED), pod(f"{JOB}-1-b", NO_IMAGE), others)
    assert why_waiting(JOB, "research") == (
        f"pod {JOB}-0-a is Pending (0/3 nodes are available: 3 Insufficient nvidia.com/gpu.); "
        f'pod {JOB}-1-b is ImagePullBackOff (Back-off pulling image "no-such-image")'
    )
    assert (folder / "asked").read_text().split() == [
        *("get", "pods,events", "--namespace", "research", "--output=json")
    ]


def test_a_warning_explains_pods_without_a_reason_and_a_job_without_pods(folder: Path) -> None:
    mount = 'Unable to attach or mount volumes: persistentvolumeclaim "runs" not found'
    answer(folder, pod(f"{JOB}-0-a", {"phase": "Pending"}), warning(f"{JOB}-0-a", mount))
    assert why_waiting(JOB, "") == f"pod {JOB}-0-a is Pending; {mount}"
    answer(folder, warning(JOB, "pods are forbidden: exceeded quota"))
    assert why_waiting(JOB, "") == "pods are forbidden: exceeded quota"


def test_a_job_that_nobody_applied_is_unknown(folder: Path) -> None:
    answer(folder)
    assert why_waiting(JOB, "") == ""


def test_without_kubectl_or_an_answer_the_command_to_type_is_named(folder: Path) -> None:
    typed = "kubectl get pods,events --namespace research"
    assert why_waiting(JOB, "research") == f"{typed} shows the state of its pods"
    answer(folder, status=1)
    assert why_waiting(JOB, "research") == (
        f"{typed} fails here: The connection to the server was refused"
    )


@pytest.fixture
def exit_file(tmp_path: Path) -> Path:
    """The note of the failure of a job's only task, which has just been written."""
    (tmp_path / "job.json").write_text(json.dumps({"tasks": ["worker-0"]}))
    (tmp_path / "0").mkdir()
    (tmp_path / "0" / "worker-0.clock").touch()
    path = tmp_path / "0" / "worker-0.exit"
    path.write_text(json.dumps({"status": 1}))
    return path


def state_of(job_dir: Path) -> str:
    status = Kubernetes().job_status(job_dir, "run-1")
    assert status is not None
    return status.state


@pytest.mark.parametrize("ahead", [0.0, HOUR, -HOUR])
def test_a_failed_task_can_restart_for_a_while_on_the_clock_of_the_volume(
    exit_file: Path, ahead: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = time.time
    monkeypatch.setattr(time, "time", lambda: right() + ahead)
    job_dir = exit_file.parents[1]
    assert state_of(job_dir) == "RESTARTING"
    noted = exit_file.stat().st_mtime - RESTART_SECONDS
    os.utime(exit_file, (noted, noted))
    assert state_of(job_dir) == "FAILED"
