"""Jobs on Ray. Only a process of the run's Python talks to Ray, so the workbench needs no Ray.

The module is not named `ray`, because the driver in the same folder would import it instead of Ray.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench import flock
from workbench.config import Problem

from . import ray_driver
from .engine import RESTARTS, JobStatus, LauncherError, Reach

if TYPE_CHECKING:
    from workbench.config import RunConfig

DRIVER = "ray_driver.py"
REACH_SECONDS = 60.0
"""Ray itself waits half as long for an address where nothing answers."""


class Ray:
    """A Ray cluster of which this machine is a node, or a new cluster on this machine."""

    name = "ray"

    def python(self, config: RunConfig) -> str:
        """Return the run's Python, which the nodes have at the same path."""
        return config.interpreter or sys.executable

    def reach(self, config: RunConfig) -> Reach:
        """Ask the cluster for its nodes."""
        report = _reach(config)
        if "error" in report:
            return Reach(reachable=False, summary=report["error"])
        nodes = ", ".join(_node(node) for node in report["nodes"])
        return Reach(reachable=True, summary=f"Ray {report['ray']}: {nodes}")

    def problems(self, config: RunConfig, tasks: Sequence[str]) -> list[Problem]:
        """Compare the resources of the nodes with the requests of the tasks."""
        report = _reach(config)
        if "error" in report:
            return [_unreachable(config, report["error"])]
        cpus = config.cpus_per_task or ray_driver.CPUS_PER_TASK
        wanted = {"CPU": cpus, "GPU": config.gpus_per_task or 0}
        places = sum(_places(node, wanted) for node in report["nodes"])
        if places >= len(tasks):
            return []
        rule = f"at most {places}, which is all that the cluster has room for"
        has = "; ".join(_node(node) for node in report["nodes"])
        fix = f"Ask for fewer workers, CPUs or GPUs, or add nodes. The cluster has {has}."
        return [Problem("workers", rule, str(len(tasks)), fix)]

    def preview(self, config: RunConfig, tasks: Sequence[str], job_dir: Path) -> str:
        """Return an empty text: Ray's own trainer is called with the resources of each task."""
        return ""

    def submit(self, job_dir: Path, config: RunConfig, tasks: Sequence[str]) -> str:
        """Start a driver for the job, which outlives the caller; return its process number."""
        asked = {
            "address": _address(config),
            "cpus_per_task": config.cpus_per_task,
            "gpus_per_task": config.gpus_per_task,
            "restarts": RESTARTS if config.restarts is None else config.restarts,
        }
        (job_dir / "asked.json").write_text(json.dumps(asked), encoding="utf-8")
        shutil.copy(ray_driver.__file__, job_dir / DRIVER)
        lock_path, log_path = job_dir / ray_driver.LOCK, job_dir / "ray.log"
        with lock_path.open("wb") as lock, log_path.open("ab") as log:
            fcntl.flock(lock, fcntl.LOCK_EX)
            driver = subprocess.Popen(
                [self.python(config), str(job_dir / DRIVER), str(job_dir)],
                cwd=job_dir,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(lock.fileno(),),
                start_new_session=True,
            )
        return str(driver.pid)

    def job_status(self, job_dir: Path, job: str) -> JobStatus | None:
        """Read the job's state as its driver reports it."""
        lives = flock.held(job_dir / ray_driver.LOCK)
        status: dict[str, Any] = {"phase": "waiting", "state": "STARTING", "why": "", "attempt": 0}
        with contextlib.suppress(FileNotFoundError):
            status = json.loads((job_dir / ray_driver.STATUS).read_text(encoding="utf-8"))
        attempt = status["attempt"]
        if status["phase"] != "over" and not lives:
            why = f"its driver, process {job}, has ended"
            return JobStatus("over", "LOST", why, "", attempt)
        return JobStatus(status["phase"], status["state"], status["why"], "", attempt)

    def cancel(self, job_dir: Path, job: str) -> None:
        """Ask the job's driver to end the job."""
        (job_dir / ray_driver.CANCEL).touch()


def _address(config: RunConfig) -> str:
    return config.ray_address or ray_driver.LOCAL


def _reach(config: RunConfig) -> dict[str, Any]:
    """Return the driver program's report: a cluster's nodes, or why it cannot be reached."""
    command = [Ray().python(config), ray_driver.__file__, "--reach", _address(config)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=REACH_SECONDS, check=False
        )
        report: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    except subprocess.TimeoutExpired:
        return {"error": f"{_address(config)} did not answer within {REACH_SECONDS:g} s"}
    except OSError as error:
        raise LauncherError(
            f"The run's Python, which runs Ray, cannot be started: {error}. Choose another "
            "interpreter."
        ) from None
    except (IndexError, ValueError):
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        return {"error": lines[-1]}
    return report


def _unreachable(config: RunConfig, why: str) -> Problem:
    if "not in the run's Python" in why:
        fix = 'Install it there: pip install "tf-distribute-workbench[ray]".'
        return Problem("launcher", "an engine that the run's Python has", "ray", f"{why}. {fix}")
    fix = (
        f"{why.rstrip('.')}. Start the workbench on a node of the cluster, enter the address that "
        "`ray start --head` printed, or leave it empty for a new cluster on this machine."
    )
    return Problem("ray_address", "a cluster that can be reached", _address(config), fix)


def _places(node: dict[str, float], wanted: dict[str, int]) -> int:
    return min(int(node.get(kind, 0) // number) for kind, number in wanted.items() if number)


def _node(node: dict[str, float]) -> str:
    has = [f"{number:g} {kind}s" for kind, number in node.items() if number]
    return f"a node with {' and '.join(has) or 'nothing'}"
