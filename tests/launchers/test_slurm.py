"""What Slurm is asked: the script of a job, and what it says before and after."""

import stat
from collections.abc import Iterator
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
    """The field of the one problem that Slurm has with a job, and all that is said of it."""
    (found,) = Slurm().problems(config, tasks)
    return found.field, str(found)


def test_all_that_is_asked_for_is_in_the_script_and_nothing_else() -> None:
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
    assert command == (
        "srun --kill-on-bad-exit=1 --label apptainer exec --nv --bind /runs/one /images/tf.sif "
        'sh -c \'exec "$@" "$SLURM_PROCID" "${SLURM_RESTART_COUNT:-0}"\' hand '
        "'/envs/my env/bin/python' /runs/one/jobs/0001/hand.py /runs/one/jobs/0001"
    )


def test_what_is_not_asked_for_is_left_to_the_cluster() -> None:
    script = sbatch(RunConfig(launcher="slurm"), ("worker-0",), Path("/runs/one/jobs/0001"))
    assert "partition" not in script
    assert "gpus" not in script
    assert "apptainer" not in script


def test_without_its_commands_it_says_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    field, told = problem(RunConfig(launcher="slurm"))
    assert field == "launcher"
    assert "sinfo is not on this machine" in told
    assert "login host" in told


def test_a_controller_that_does_not_answer_is_said_in_its_commands_own_words(
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
def test_what_the_cluster_can_never_begin_is_said_at_once_beside_its_field(
    slurm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_CONF", str(slurm))
    good = RunConfig(launcher="slurm", nodes=2)
    assert Slurm().problems(good, ("worker-0", "worker-1")) == []
    assert problem(RunConfig(launcher="slurm", partition="gpu"))[0] == "partition"
    field, told = problem(RunConfig(launcher="slurm", partition="gpu"))
    assert "debug: 2 nodes of 2 CPUs" in told
    assert problem(RunConfig(launcher="slurm", time_limit_minutes=600))[0] == "time_limit_minutes"
    field, told = problem(RunConfig(launcher="slurm"), tuple(f"worker-{n}" for n in range(5)))
    assert field == "workers"
    assert "Ask for fewer workers" in told


@pytest.mark.slow
@needs_slurm
def test_a_job_that_it_never_had_is_unknown(slurm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_CONF", str(slurm))
    assert Slurm().look(Path(), "999") is None
    assert Slurm().reach(RunConfig()).reachable
