"""Runs as jobs of a real Slurm cluster of two nodes, with the trainer of `obedient.py`."""

import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.launchers.cluster import can_hide, missing, slurm_cluster
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
from workbench.runs import Run, RunError, start_script
from workbench.runs.folder.state import supervisor_events, tf_configs
from workbench.runs.resume import resume

TWO = ("worker-0", "worker-1")
GATE = {"pauses": {"20": "gate"}}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(missing()), reason=f"Slurm is not installed: {missing()}"),
]


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with slurm_cluster(tmp_path_factory.mktemp("slurm") / "cluster") as conf:
        yield conf


@pytest.fixture(autouse=True)
def asked(slurm: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Slurm's commands use this cluster; no job is left on it."""
    monkeypatch.setenv("SLURM_CONF", str(slurm))
    yield
    subprocess.run(["scancel", "--user=root"], check=True)
    until(lambda: not ask("squeue", "--noheader"))


def ask(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def started(runs: Runs, **options: object) -> Run:
    return runs.start(**{"tasks": TWO, "launcher": "slurm", **options})


def open_gate(run: Run) -> None:
    (run.dir / "gate").touch()


def at_gate(run: Run) -> None:
    until(lambda: run.status == "running")


def job_of(run: Run) -> str:
    folder = JobFolder.newest(run.dir)
    assert folder is not None
    return folder.noted["job"]


@pytest.mark.promise
def test_the_tasks_of_a_job_train_on_their_hosts_and_are_followed(runs: Runs) -> None:
    run = started(runs)
    assert over(run) == "finished"
    assert states(run)[0] == "queued"
    assert list(dict.fromkeys(states(run))) == ["queued", "starting", "running", "finished"]
    configs = tf_configs(supervisor_events(run.dir))
    assert [configs[task]["task"]["index"] for task in TWO] == [0, 1]
    first, second = configs["worker-0"]["cluster"]["worker"]
    assert first != second
    assert [len(run.replica_steps().query("worker == @at")) for at in (0, 1)] == [120, 120]
    assert set(run.peak_bytes) == set(TWO)
    until(lambda: "JobState=COMPLETED" in ask("scontrol", "show", "job", job_of(run)))


def test_tensorflow_trains_synchronous_workers_in_a_job(runs: Runs) -> None:
    run = runs.train(launcher="slurm", strategy="multi_worker_mirrored")
    losses = losses_of(run)
    assert [len(losses[worker]) for worker in (0, 1)] == [8, 8]
    assert all(map(math.isfinite, losses[0] + losses[1]))


def test_tensorflow_trains_a_chief_workers_and_a_parameter_server_in_a_job(runs: Runs) -> None:
    run = runs.train(launcher="slurm", strategy="parameter_server", parameter_servers=1)
    losses = losses_of(run)
    assert set(losses) == {0, 1}
    assert len(losses[0] + losses[1]) == 8
    assert all(map(math.isfinite, losses[0] + losses[1]))


@pytest.mark.parametrize("launcher", ["local", "slurm"])
def test_no_file_of_a_run_holds_a_credential_of_the_environment(
    runs: Runs, launcher: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    has = f"assert os.environ['HF_TOKEN'] == '{PLANTED[:4]}' + '{PLANTED[4:]}'"
    run = runs.start(tasks=TWO, launcher=launcher, code={"born": has})
    assert over(run) == "finished"
    assert files_with(run, PLANTED) == []


def test_each_task_is_given_the_cpus_that_are_reserved_for_it(runs: Runs) -> None:
    writes = "(task / 'cpus').write_text(str(len(os.sched_getaffinity(0))))"
    binds = "export SLURM_CPU_BIND=threads"
    run = started(runs, cpus_per_task=2, job_setup=binds, code={"born": writes})
    assert over(run) == "finished"
    assert [(run.dir / task / "cpus").read_text() for task in TWO] == ["2", "2"]


def test_a_stop_reaches_all_tasks(runs: Runs) -> None:
    run = started(runs, **GATE)
    at_gate(run)
    run.stop()
    assert over(run) == "stopped"
    until(lambda: not ask("squeue", "--noheader"))


def test_a_failed_task_is_named_and_the_others_are_ended(runs: Runs) -> None:
    dies = {"code": {"20": "raise RuntimeError('boom')"}}
    run = started(runs, own={"worker-0": {"pauses": {"40": "gate"}}, "worker-1": dies})
    assert over(run) == "failed"
    failed = event_of(run, "failed")
    assert failed is not None
    assert failed["task"] == "worker-1"
    assert "RuntimeError: boom" in failed["cause"]
    until(lambda: not processes_of(run))


def test_a_host_without_the_runs_folder_is_named_as_the_cause(
    runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs.root.mkdir()
    if not can_hide(runs.root):
        pytest.skip("no mount namespaces")
    with slurm_cluster(tmp_path / "cluster", hidden=runs.root) as conf, monkeypatch.context() as on:
        on.setenv("SLURM_CONF", str(conf))
        run = started(runs, nodes=2)
        assert over(run) == "failed"
    failed = event_of(run, "failed")
    assert failed is not None
    assert failed["task"] == "worker-1"
    words, _, reason = failed["cause"].partition(". ")
    assert words == "A host of this run does not see the run's folder"
    assert reason.startswith("All hosts must share the folder of a run; ")
    assert "then resume the run" in failed["fix"]
    assert reason in failed["log"]


def test_a_host_whose_python_does_not_start_is_blamed_and_not_a_task_that_waits_for_it(
    runs: Runs, tmp_path: Path
) -> None:
    python = tmp_path / "python"
    python.write_text(
        f"""#!/bin/sh
        if [ "$3" = 1 ]; then
            until [ -e "$2/0/worker-0.address" ]; do sleep 0.1; done
            echo "libpython3.so is missing" >&2
            exit 1
        fi
        exec {sys.executable} "$@"
        """
    )
    python.chmod(0o755)
    run = started(runs, python=str(python))
    assert over(run) == "failed"
    failed = event_of(run, "failed")
    assert failed is not None
    assert (failed["task"], failed["cause"]) == ("worker-1", "libpython3.so is missing")


def test_a_container_gets_its_own_python_and_the_folders_of_data_and_work(
    runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, work, asked = (tmp_path / name for name in ("data", "work", "asked"))
    data.mkdir()
    work.mkdir()
    with_stand_in_for_apptainer(tmp_path / "bin", asked, monkeypatch)
    run = started(
        runs, container="image.sif", data_dir=str(data), working_dir=str(work), tasks=["worker-0"]
    )
    assert over(run) == "finished"
    options, _, command = asked.read_text().strip().partition(" image.sif ")
    mounts = [
        f"--mount type=bind,source={folder},destination={folder}"
        for folder in (run.dir, work, data)
    ]
    assert options == f"exec --nv {' '.join(mounts)}"
    assert " helper python3 " in command
    assert sys.executable not in command


def with_stand_in_for_apptainer(folder: Path, asked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a stand-in for Apptainer on PATH: it notes its arguments and runs the rest here."""
    folder.mkdir()
    (folder / "python3").symlink_to(sys.executable)
    (folder / "apptainer").write_text(
        f"""#!/bin/sh
        echo "$@" > {asked}
        until [ "$1" = image.sif ]; do shift; done
        shift
        exec "$@"
        """
    )
    (folder / "apptainer").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_training_outlives_its_supervisor_and_a_resume_follows_the_same_job(runs: Runs) -> None:
    run = started(runs, **GATE)
    at_gate(run)
    job = job_of(run)
    os.kill(pid_of(run, "supervisor"), signal.SIGKILL)
    until(lambda: run.status == "lost")
    resume(run.dir, bounds=QUICK)
    at_gate(run)
    assert run.progress.phase == "training"
    open_gate(run)
    assert over(run) == "finished"
    assert job_of(run) == job
    assert len(run.replica_steps()) == 240


def test_deleting_a_lost_run_ends_its_job(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    run = started(runs, **GATE)
    at_gate(run)
    os.kill(pid_of(run, "supervisor"), signal.SIGKILL)
    until(lambda: run.status == "lost")
    with monkeypatch.context() as away:
        away.setenv("SLURM_CONF", "/nowhere")
        with pytest.raises(RunError, match=f"slurm job {job_of(run)} cannot be ended from here"):
            run.delete()
    job = job_of(run)
    assert f"JobId={job}" in ask("scontrol", "show", "job", job)
    run.delete()
    assert not run.dir.exists()
    assert "JobState=CANCELLED" in ask("scontrol", "show", "job", job)


def test_a_requeued_job_resumes_from_its_checkpoint(runs: Runs) -> None:
    run = started(runs, **GATE)
    at_gate(run)
    ask("scontrol", "requeue", job_of(run))
    until(lambda: states(run)[-1] == "queued")
    assert run.progress.note.startswith("Slurm started the job again. All tasks start again")
    ask("scontrol", "update", f"JobId={job_of(run)}", "StartTime=now")
    open_gate(run)
    assert over(run) == "finished"
    assert starts_of(run, "worker-0") == [0, 20]


def test_a_cancelled_job_stops_the_run_and_slurm_is_named(runs: Runs) -> None:
    run = started(runs, **GATE)
    at_gate(run)
    ask("scancel", job_of(run))
    assert over(run) == "stopped"
    stopped = event_of(run, "stopped")
    assert stopped is not None
    ending = [event for event in run.events() if event.get("state") == "stopped"][-1]
    assert "Slurm ended the job: CANCELLED" in ending["note"]


def test_a_waiting_job_has_a_reason_and_can_be_stopped(runs: Runs) -> None:
    ask("scontrol", "update", "partition=debug", "state=down")
    try:
        run = started(runs)
        until(lambda: "PartitionDown" in run.progress.note)
        assert run.status == "queued"
        job = job_of(run)
        run.stop()
        assert over(run) == "stopped"
        until(lambda: "JobState=CANCELLED" in ask("scontrol", "show", "job", job))
    finally:
        ask("scontrol", "update", "partition=debug", "state=up")


def test_a_job_that_slurm_refuses_fails_with_the_reason(runs: Runs) -> None:
    run = start_script(runs.make(tasks=TWO, launcher="slurm", partition="nowhere").dir, QUICK)
    assert over(run) == "failed"
    failed = event_of(run, "failed")
    assert failed is not None
    assert "Invalid partition" in failed["cause"]
