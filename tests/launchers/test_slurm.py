"""Slurm: the script of a job, and the answers before and after."""

import csv
import shlex
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.launchers.cluster import missing, slurm_cluster
from workbench.config import RunConfig
from workbench.launchers.slurm import Slurm, sbatch

TASKS = ("chief-0", "worker-0", "ps-0")
ASKED = RunConfig(
    launcher="slurm",
    nodes=2,
    cpus_per_task=4,
    gpus_per_task=1,
    time_limit_minutes=90,
    partition="gpu",
    account="mine",
    job_setup="module load cuda",
    container="/images/tf.sif",
    interpreter="/envs/my env/bin/python",
)
needs_slurm = pytest.mark.skipif(bool(missing()), reason=f"Slurm is not installed: {missing()}")


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with slurm_cluster(tmp_path_factory.mktemp("slurm") / "cluster") as conf:
        yield conf


def problem(config: RunConfig, tasks: tuple[str, ...] = TASKS) -> tuple[str, str]:
    """Return the field of the one problem that Slurm has with a job, and the problem's text."""
    (found,) = Slurm().problems(config, tasks)
    return found.field, str(found)


def test_the_script_has_all_requested_options_and_no_others() -> None:
    lines = sbatch(ASKED, TASKS, Path("/runs/one/jobs/0001")).splitlines()
    assert lines[0] == "#!/bin/bash"
    options = {line.removeprefix("#SBATCH --") for line in lines if line.startswith("#SBATCH")}
    assert options == {
        "job-name=workbench",
        "ntasks=3",
        "nodes=2",
        "cpus-per-task=4",
        "gpus-per-task=1",
        "time=90",
        "partition=gpu",
        "account=mine",
        "chdir=/runs/one/jobs/0001",
        "output=/runs/one/jobs/0001/slurm.log",
        "open-mode=append",
        "signal=TERM@60",
        "requeue",
    }
    setup, command = lines[-2:]
    assert setup == "module load cuda"
    *before, shell = shlex.split(command.partition(" helper ")[0])
    assert " ".join(before) == (
        "srun --kill-on-bad-exit=1 --label --cpus-per-task=4 "
        "apptainer exec --nv --mount type=bind,source=/runs/one,destination=/runs/one "
        "/images/tf.sif sh -c"
    )
    assert shell.endswith('exec "$@" "$SLURM_PROCID" "${SLURM_RESTART_COUNT:-0}"')
    assert command.endswith(
        " helper '/envs/my env/bin/python' /runs/one/jobs/0001/task_helper.py /runs/one/jobs/0001"
    )


@pytest.mark.parametrize(
    ("data_dir", "folders"),
    [
        (None, ["/runs/one", "/home/me"]),
        ("/data", ["/runs/one", "/home/me", "/data"]),
        ("my data", ["/runs/one", "/home/me", "/home/me/my data"]),
        ("~/data", ["/runs/one", "/home/me", "/home/you/data"]),
        ("/home/me", ["/runs/one", "/home/me"]),
        ('/data/a:b, "c"', ["/runs/one", "/home/me", '/data/a:b, "c"']),
    ],
)
def test_the_container_sees_the_folders_of_run_work_and_data_once(
    data_dir: str | None, folders: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/you")
    config = replace(ASKED, data_dir=data_dir)
    script = sbatch(config, TASKS, Path("/runs/one/jobs/0001"), Path("/home/me"))
    before, _, after = script.splitlines()[-1].partition(" apptainer exec --nv ")
    options = shlex.split(after.partition(" /images/tf.sif sh -c ")[0])
    assert options[::2] == ["--mount"] * len(folders)
    mounts = [dict(field.split("=", 1) for field in row) for row in csv.reader(options[1::2])]
    assert mounts == [{"type": "bind", "source": each, "destination": each} for each in folders]
    assert before.startswith("srun ")


def test_options_that_are_not_requested_are_left_to_the_cluster() -> None:
    script = sbatch(RunConfig(launcher="slurm"), ("worker-0",), Path("/runs/one/jobs/0001"))
    assert "partition" not in script
    assert "gpus" not in script
    assert "apptainer" not in script
    assert "cpus" not in script


def test_without_slurms_commands_the_error_names_a_host_that_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    field, text = problem(RunConfig(launcher="slurm"))
    assert field == "launcher"
    assert "sinfo is not on this machine" in text
    assert "login node" in text


def test_a_controller_that_does_not_answer_is_reported_with_slurms_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = tmp_path / "sinfo"
    command.write_text(
        "#!/bin/sh\necho 'slurm_load: error: Unable to contact controller' >&2\nexit 1"
    )
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    assert "Unable to contact controller" in problem(RunConfig(launcher="slurm"))[1]


@pytest.mark.slow
@needs_slurm
def test_a_job_that_can_never_start_is_refused_immediately_with_its_field(
    slurm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_CONF", str(slurm))
    good = RunConfig(launcher="slurm", nodes=2)
    assert Slurm().problems(good, ("worker-0", "worker-1")) == []
    assert problem(RunConfig(launcher="slurm", partition="gpu"))[0] == "partition"
    field, text = problem(RunConfig(launcher="slurm", partition="gpu"))
    assert "debug: 2 nodes of 2 CPUs" in text
    assert problem(RunConfig(launcher="slurm", time_limit_minutes=600))[0] == "time_limit_minutes"
    field, text = problem(RunConfig(launcher="slurm"), tuple(f"worker-{n}" for n in range(5)))
    assert field == "workers"
    assert "or ask for fewer workers" in text


@pytest.mark.slow
@needs_slurm
def test_a_job_that_slurm_never_had_is_unknown(
    slurm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_CONF", str(slurm))
    assert Slurm().job_status(Path(), "999") is None
    assert Slurm().reach(RunConfig()).reachable
