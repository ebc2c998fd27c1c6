"""Runs as jobs of a real Ray cluster of two nodes, with the trainer of `obedient.py`."""

import math
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.launchers.cluster import can_hide
from tests.launchers.ray_cluster import ray_cluster
from tests.runs.run_folders import (
    CREDENTIALS,
    PLANTED,
    QUICK,
    Runs,
    event_of,
    files_with,
    losses_of,
    over,
    pid_of,
    processes_of,
    starts_of,
    states,
)
from tests.waiting import until
from workbench.launchers.job import JobFolder
from workbench.runs import Run
from workbench.runs.resume import resume

TWO = ("worker-0", "worker-1")
GATE = {"pauses": {"20": "gate"}}
AGENTS_END = """
import os, pathlib, sys

sessions = [word for word in sys.orig_argv if word.startswith("--session-dir=")]
if sessions and any(word.endswith("dashboard/agent.py") for word in sys.orig_argv):
    seen = pathlib.Path({seen!r})
    (seen / pathlib.Path(sessions[0]).name).touch()
    if len(list(seen.iterdir())) == 1:
        os._exit(1)
"""
"""A sitecustomize.py that ends an agent of Ray's first cluster, so that its ports never come."""
JOBS = """
import sys, ray
ray.init(address=sys.argv[1], log_to_driver=False)
print(ray._private.worker.global_worker.gcs_client.get_all_job_info())
"""
"""A program that prints what a cluster records about its jobs."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster() -> Iterator[tuple[str, Path]]:
    with ray_cluster() as made:
        yield made


@pytest.fixture
def ray(cluster: tuple[str, Path], runs: Runs, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of the cluster, with its token set; no process of a run is left on it."""
    address, token = cluster
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(token))
    yield address
    for run in runs.made:
        until(lambda run=run: not processes_of(run))


def started(runs: Runs, address: str, **options: object) -> Run:
    return runs.start(**{"tasks": TWO, "launcher": "ray", "ray_address": address, **options})


def at_gate(run: Run) -> None:
    until(lambda: run.status == "running")


def helper_of(run: Run, number: int) -> psutil.Process:
    """Return the helper of a task, which is a child of a Ray worker."""
    ran = [psutil.Process(number) for number in processes_of(run)]
    commands = {process: process.cmdline()[1:] for process in ran}
    return next(
        process
        for process, command in commands.items()
        if command[0].endswith("task_helper.py") and command[2] == str(number)
    )


def test_a_new_cluster_that_does_not_start_within_rays_limits_is_started_again(
    runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = tmp_path / "seen"
    seen.mkdir()
    (tmp_path / "sitecustomize.py").write_text(AGENTS_END.format(seen=str(seen)))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    run = runs.start(tasks=TWO[:1], launcher="ray")
    assert over(run) == "finished"
    assert len(list(seen.iterdir())) == 2


def test_a_new_cluster_that_never_starts_fails_the_run_with_rays_error_and_a_fix(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("", 0)) as taken:
        monkeypatch.setenv("RAY_GCS_SERVER_PORT", str(taken.getsockname()[1]))
        run = runs.start(tasks=TWO[:1], launcher="ray")
        assert over(run) == "failed"
    failed = event_of(run, "failed")
    assert failed is not None
    assert "in 2 attempts: Failed to start GCS. " in failed["cause"]
    assert "enter the address" in failed["cause"]


def test_tensorflow_trains_synchronous_workers_through_ray(runs: Runs, ray: str) -> None:
    run = runs.train(launcher="ray", ray_address=ray, strategy="multi_worker_mirrored")
    losses = losses_of(run)
    assert [len(losses[worker]) for worker in (0, 1)] == [8, 8]
    assert all(map(math.isfinite, losses[0] + losses[1]))


def test_no_file_of_a_run_holds_a_credential_of_the_environment(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    has = f"assert os.environ['HF_TOKEN'] == '{PLANTED[:4]}' + '{PLANTED[4:]}'"
    run = runs.start(tasks=TWO[:1], launcher="ray", code={"born": has})
    assert over(run) == "finished"
    assert files_with(run, PLANTED) == []


def test_neither_a_run_nor_rays_record_of_its_job_holds_the_token_of_the_cluster(
    runs: Runs, cluster: tuple[str, Path], ray: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = cluster[1].read_text()
    monkeypatch.delenv("RAY_AUTH_TOKEN_PATH")
    for name, value in {**CREDENTIALS, "RAY_AUTH_TOKEN": token, "RAY_ADDRESS": ray}.items():
        monkeypatch.setenv(name, value)
    run = started(runs, ray)
    assert over(run) == "finished"
    assert files_with(run, token) == files_with(run, PLANTED) == []
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    command = [sys.executable, "-c", JOBS, ray]
    jobs = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert str(run.dir) in jobs
    assert token not in jobs
    assert PLANTED not in jobs


def test_a_worker_that_ray_loses_is_restarted_and_the_run_finishes(runs: Runs, ray: str) -> None:
    run = started(runs, ray, **GATE)
    at_gate(run)
    worker = helper_of(run, 1).parent()
    assert worker is not None
    worker.kill()
    until(lambda: states(run)[-1] == "queued")
    (run.dir / "gate").touch()
    assert over(run) == "finished"
    assert starts_of(run, "worker-0") == [0, 20]
    assert [len(run.replica_steps().query("worker == @at")) for at in (0, 1)] == [120, 120]


def test_a_failed_task_is_named_and_not_restarted(runs: Runs, ray: str) -> None:
    dies = {"code": {"20": "raise RuntimeError('boom')"}}
    run = started(runs, ray, own={"worker-0": {"pauses": {"40": "gate"}}, "worker-1": dies})
    assert over(run) == "failed"
    failed = event_of(run, "failed")
    assert failed is not None
    assert failed["task"] == "worker-1"
    assert "RuntimeError: boom" in failed["cause"]


def test_a_node_without_the_runs_folder_is_named_and_nothing_is_restarted(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs.root.mkdir()
    if not can_hide(runs.root):
        pytest.skip("no mount namespaces")
    with ray_cluster(hidden=runs.root) as (address, token):
        monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(token))
        run = started(runs, address)
        assert over(run) == "failed"
    failed = event_of(run, "failed")
    assert failed is not None
    words, _, reason = failed["cause"].partition(". ")
    assert words == "A host of this run does not see the run's folder"
    assert reason.startswith("All hosts must share the folder of a run; ")
    folder = JobFolder.newest(run.dir)
    assert folder is not None
    attempts = [path.name for path in folder.path.glob("ray-results/attempt-*")]
    assert attempts == ["attempt-0"]


def test_a_resumed_job_is_stopped_and_a_waiting_job_has_a_reason(runs: Runs, ray: str) -> None:
    run = started(runs, ray, **GATE)
    at_gate(run)
    waits = started(runs, ray)
    os.kill(pid_of(run, "supervisor"), signal.SIGKILL)
    until(lambda: run.status == "lost")
    resume(run.dir, bounds=QUICK)
    at_gate(run)
    until(lambda: "0 CPU and 0 GPU free" in waits.progress.note)
    assert waits.status == "queued"
    waits.stop()
    assert over(waits) == "stopped"
    run.stop()
    assert over(run) == "stopped"
    assert starts_of(run, "worker-0") == [0]
