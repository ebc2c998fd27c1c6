"""Jobs on Slurm, by Slurm's own commands."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.config import Problem

from .engine import HELPER, JobStatus, LauncherError, Phase, Reach
from .manifests import PYTHON

if TYPE_CHECKING:
    from workbench.config import RunConfig

SCRIPT = "job.sbatch"
OUTPUT = "slurm.log"
COMMAND_SECONDS = 30.0
_START = (
    'test -r "$2" || { echo "All hosts must share the folder of a run; $(hostname) has no $2. '
    'Put the folder of runs on a disk that all hosts share and can write to." >&2; exit 97; }; '
    'exec "$@" "$SLURM_PROCID" "${SLURM_RESTART_COUNT:-0}"'
)
"""The shell's program on each host: it starts the helper, which is in the folder of the run."""
SAVE_SECONDS = 60
"""This many seconds before the time limit, the tasks are asked to save and stop."""
WAITING = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT",
           "RESV_DEL_HOLD")  # fmt: skip
RUNNING = ("RUNNING", "COMPLETING", "SUSPENDED", "SIGNALING", "STAGE_OUT", "STOPPED", "RESIZING")
_FIELD = re.compile(r"(?:^|\s)(JobState|Reason|Restarts|NodeList|ExitCode)=(\S*)")
_NO_JOB = "Invalid job id"
_FIELDS = (
    ("partition", "partition", "Choose one of {partitions}, or leave partition empty."),
    ("account", "account", "Choose one of your accounts (sacctmgr show associations), or none."),
    ("time limit", "time_limit_minutes", "Ask for less, or choose another partition."),
    ("gres", "gpus_per_task", "Ask for fewer GPUs, or choose another partition."),
    ("", "workers", "Change what sbatch names, or ask for fewer workers, CPUs or GPUs."),
)
"""A word of sbatch's message, the config field that it concerns, and the fix."""


class Slurm:
    """A cluster whose commands (sbatch, scontrol, scancel, sinfo) are on this machine."""

    name = "slurm"

    def python(self, config: RunConfig) -> str:
        """Return the run's Python, which the hosts or the image have at the same path."""
        return config.interpreter or (PYTHON if config.container else sys.executable)

    def reach(self, config: RunConfig) -> Reach:
        """Ask Slurm for its partitions."""
        try:
            output = _ask("sinfo", "--noheader", "--format=%P|%D|%c|%G|%a")
        except LauncherError as error:
            return Reach(reachable=False, summary=str(error))
        return Reach(reachable=True, summary="; ".join(map(_partition, output.splitlines())))

    def problems(self, config: RunConfig, tasks: Sequence[str]) -> list[Problem]:
        """Ask Slurm whether it could ever start such a job, without submitting one."""
        reach = self.reach(config)
        if not reach.reachable:
            return [Problem("launcher", "an engine that can be reached", "slurm", reach.summary)]
        try:
            _ask("sbatch", "--test-only", text=_head(config, tasks))
        except LauncherError as error:
            message = str(error)
            field, fix = next(row[1:] for row in _FIELDS if row[0] in message.lower())
            rule = f"a value with which Slurm can start the job ({message})"
            got = str(getattr(config, field) or len(tasks))
            return [Problem(field, rule, got, fix.format(partitions=reach.summary))]
        return []

    def preview(self, config: RunConfig, tasks: Sequence[str], job_dir: Path) -> str:
        """Return the sbatch script."""
        return sbatch(config, tasks, job_dir)

    def submit(self, job_dir: Path, config: RunConfig, tasks: Sequence[str]) -> str:
        """Submit the job with an sbatch script, kept in the folder; return the job's id."""
        path = job_dir / SCRIPT
        job = json.loads((job_dir / "job.json").read_text(encoding="utf-8"))
        text = sbatch(config, tasks, job_dir, Path(job["working_dir"]))
        path.write_text(text, encoding="utf-8")
        return _ask("sbatch", "--parsable", str(path)).strip().partition(";")[0]

    def job_status(self, job_dir: Path, job: str) -> JobStatus | None:
        """Ask Slurm for the job's state. Slurm remembers ended jobs for some minutes."""
        try:
            output = _ask("scontrol", "--oneliner", "show", "job", job)
        except LauncherError as error:
            if _NO_JOB in str(error):
                return None
            raise
        fields = dict(_FIELD.findall(output))
        state, reason = fields.get("JobState", ""), fields.get("Reason", "None")
        phase = _phase(state)
        why = "" if reason == "None" else reason
        if phase == "over" and (status := fields.get("ExitCode", "0:0")) != "0:0":
            why = f"{why}, exit status {status}".removeprefix(", ")
        hosts = fields.get("NodeList", "").replace("(null)", "")
        return JobStatus(phase, state, why, hosts, int(fields.get("Restarts") or 0))

    def cancel(self, job_dir: Path, job: str) -> None:
        """Cancel the job."""
        _ask("scancel", job)


def sbatch(
    config: RunConfig, tasks: Sequence[str], job_dir: Path, working_dir: Path | None = None
) -> str:
    """Return the script that Slurm runs on the job's first host: it starts a helper for each task.

    srun gives each helper the number of its task, and how often Slurm has restarted the job.
    """
    helper = [Slurm().python(config), str(job_dir / HELPER), str(job_dir)]
    bound = _bound(config, job_dir.parents[1], working_dir)
    container = ["apptainer", "exec", "--nv", *bound, config.container]
    command = [
        *("srun", "--kill-on-bad-exit=1", "--label"),
        # Since Slurm 22.05, srun does not take this over from the job: sbatch(1).
        *([f"--cpus-per-task={config.cpus_per_task}"] if config.cpus_per_task else ()),
        *(map(str, container) if config.container else ()),
        *("sh", "-c", _START, "helper", *helper),
    ]
    setup = f"{config.job_setup.strip()}\n" if config.job_setup.strip() else ""
    return f"{_head(config, tasks, job_dir)}\n{setup}{shlex.join(command)}\n"


def _bound(config: RunConfig, run_dir: Path, working_dir: Path | None) -> list[str]:
    """Return Apptainer's options that show a container the folders of the run, work and data."""
    folders = [run_dir, working_dir or run_dir]
    if config.data_dir:
        folders.append(folders[-1] / Path(config.data_dir).expanduser())
    return [word for folder in dict.fromkeys(folders) for word in ("--mount", _mount(folder))]


def _mount(folder: Path) -> str:
    """Return Apptainer's specification of a folder that a container sees at the same path.

    Its fields are quoted as in a CSV file, so a path may hold `,` and `:`; `--bind` has no quotes.
    """
    text = io.StringIO()
    fields = ("type=bind", f"source={folder}", f"destination={folder}")
    csv.writer(text, lineterminator="").writerow(fields)
    return text.getvalue()


def _head(config: RunConfig, tasks: Sequence[str], job_dir: Path | None = None) -> str:
    """Return the script's options."""
    given = {
        "job-name": "workbench",
        "ntasks": len(tasks),
        "nodes": config.nodes,
        "cpus-per-task": config.cpus_per_task,
        "gpus-per-task": config.gpus_per_task,
        "time": config.time_limit_minutes,
        "partition": config.partition,
        "account": config.account,
        "chdir": job_dir,
        "output": job_dir and job_dir / OUTPUT,
        "open-mode": "append",
        "signal": f"TERM@{SAVE_SECONDS}",
    }
    options = [f"--{name}={shlex.quote(str(value))}" for name, value in given.items() if value]
    return "".join(f"#SBATCH {each}\n" for each in [*options, "--requeue"]).join(
        ("#!/bin/bash\n", "")
    )


def _phase(state: str) -> Phase:
    if state in WAITING:
        return "waiting"
    return "running" if state in RUNNING else "over"


def _partition(line: str) -> str:
    name, nodes, cpus, gpus, up = line.split("|")
    has = "" if gpus in ("(null)", "") else f", {gpus}"
    return f"{name.rstrip('*')}: {nodes} nodes of {cpus} CPUs{has}{'' if up == 'up' else ', down'}"


def _ask(*command: str, text: str = "") -> str:
    """Run a Slurm command with a text as its input; return its output.

    Raises:
        LauncherError: the command is missing, does not answer, or refuses, in its own words.
    """
    try:
        done = subprocess.run(
            command,
            input=text,
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )
    except FileNotFoundError:
        raise LauncherError(
            f"Slurm's command {command[0]} is not on this machine. Start the workbench on a login "
            "node of the cluster."
        ) from None
    except subprocess.TimeoutExpired:
        raise LauncherError(
            f"Slurm did not answer {command[0]} within {COMMAND_SECONDS:g} s. Try again, or have "
            "its controller checked."
        ) from None
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        message = lines[-1].partition("error: ")[2] or lines[-1] if lines else "no message"
        raise LauncherError(f"{command[0]} reports: {message}")
    return done.stdout
