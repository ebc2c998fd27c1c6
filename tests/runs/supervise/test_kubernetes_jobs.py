"""Runs whose tasks are pods: the command of each pod's container runs as a process here.

The tests take the place of Kubernetes: they start a process for each task, and again if it fails.
"""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import yaml

from tests.launchers.pods import pods_of
from tests.runs.run_folders import Runs, event_of, over, pid_of, processes_of, starts_of, states
from tests.waiting import LIMIT_SECONDS, until
from workbench.runs import Run
from workbench.runs.folder.state import clocks_ahead_seconds, supervisor_events

TWO = ("worker-0", "worker-1")
GATE = {"pauses": {"40": "gate"}}
KUBERNETES = {"launcher": "kubernetes", "container": "image", "volume_claim": "runs"}

BEHIND = "import time; right = time.time; time.time = lambda: right() - 3600.0"
"""A sitecustomize.py for the processes of a host whose clock is an hour behind."""


class Pods:
    """The processes of a run's pods."""

    def __init__(self) -> None:
        self.begun: list[subprocess.Popen[bytes]] = []

    def apply(self, run: Run) -> None:
        """Start a pod for each task of the manifest that the run names."""
        for task in range(len(TWO)):
            self.begin(run, task)

    def begin(self, run: Run, task: int) -> subprocess.Popen[bytes]:
        made = pods_of(run)[task]
        pod = subprocess.Popen(made.command, env=made.environment, start_new_session=True)
        self.begun.append(pod)
        return pod

    def statuses(self) -> list[int]:
        return [pod.wait(LIMIT_SECONDS) for pod in self.begun]


@pytest.fixture
def pods() -> Iterator[Pods]:
    made = Pods()
    yield made
    for pod in made.begun:
        pod.kill()
        pod.wait()


def started(runs: Runs, **options: object) -> Run:
    return runs.start(**{"tasks": TWO, **KUBERNETES, **options})


@pytest.mark.parametrize("kind", ["job", "jobset", "tfjob"])
def test_the_command_to_type_is_shown_and_the_pods_are_followed(
    runs: Runs, pods: Pods, kind: str
) -> None:
    run = started(runs, kubernetes_kind=kind)
    until(lambda: "kubectl apply -f " in run.progress.note)
    (typed,) = re.findall(r"kubectl apply -f (\S+)", run.progress.note)
    assert yaml.safe_load_all(Path(typed).read_text())
    assert set(states(run)) == {"queued"}
    pods.apply(run)
    assert over(run) == "finished"
    assert pods.statuses() == [0, 0]
    assert [len(run.replica_steps().query("worker == @at")) for at in (0, 1)] == [120, 120]


def test_a_host_whose_clock_is_behind_is_named_also_if_it_is_the_only_one(
    runs: Runs, pods: Pods, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = started(runs, tasks=TWO[:1])
    until(lambda: "kubectl" in run.progress.note)
    (tmp_path / "sitecustomize.py").write_text(BEHIND)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    pods.begin(run, 0)
    assert over(run) == "finished"
    (ahead,) = clocks_ahead_seconds(supervisor_events(run.dir)).values()
    assert -3700.0 < ahead < -3500.0
    assert "that of worker-0 is 3," in run.progress.note
    first, *_, last = run.events()
    assert (first["task"], last["task"]) == ("supervisor", "supervisor")


def test_a_restarted_pod_restarts_the_others(runs: Runs, pods: Pods) -> None:
    run = started(runs, **GATE)
    pods.apply(run)
    until(lambda: run.status == "running")
    for process in psutil.Process(pods.begun[1].pid).children():
        process.kill()
    assert pods.begun[1].wait(LIMIT_SECONDS) != 0
    pods.begin(run, 1)
    assert pods.begun[0].wait(LIMIT_SECONDS) != 0
    pods.begin(run, 0)
    (run.dir / "gate").touch()
    assert over(run) == "finished"
    assert starts_of(run, "worker-0") == [0, 30]


def test_the_cause_of_a_restart_is_shown_until_the_end_of_training(runs: Runs, pods: Pods) -> None:
    dies_once = "if not (task / 'died').exists(): (task / 'died').touch(); raise OSError('boom')"
    run = started(runs, **GATE, own={"worker-1": {"code": {"30": dies_once}}})
    pods.apply(run)
    assert pods.begun[1].wait(LIMIT_SECONDS) != 0
    pods.begin(run, 1)
    assert pods.begun[0].wait(LIMIT_SECONDS) != 0
    pods.begin(run, 0)
    until(lambda: states(run).count("running") == 2)
    assert run.progress.note.startswith("worker-1: OSError: boom")
    assert "All tasks started again from the last checkpoint at " in run.progress.note
    (run.dir / "gate").touch()
    assert over(run) == "finished"
    assert run.progress.note == ""


def test_terminated_pods_save_and_stop_the_run(runs: Runs, pods: Pods) -> None:
    run = started(runs, **GATE)
    pods.apply(run)
    until(lambda: run.status == "running")
    for pod in pods.begun:
        pod.send_signal(signal.SIGTERM)
    assert over(run) == "stopped"
    assert event_of(run, "stopped") is not None


def test_a_run_stopped_while_it_waited_does_not_start(runs: Runs, pods: Pods) -> None:
    run = started(runs)
    until(lambda: "kubectl" in run.progress.note)
    run.stop()
    assert over(run) == "stopped"
    pods.apply(run)
    assert pods.statuses() == [0, 0]
    assert run.status == "stopped"
    assert not processes_of(run)


def test_deleting_a_lost_run_ends_its_pods(runs: Runs, pods: Pods) -> None:
    run = started(runs, **GATE)
    pods.apply(run)
    until(lambda: run.status == "running")
    os.kill(pid_of(run, "supervisor"), signal.SIGKILL)
    until(lambda: run.status == "lost")
    run.delete()
    assert not run.dir.exists()
    assert len(pods.statuses()) == len(TWO)
