"""Jobs on Kubernetes: a person applies the manifests; the shared volume shows the progress.

Where kubectl is on PATH, it tells why pods wait.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.launchers.engine import JobStatus, Reach
from workbench.launchers.manifests import PYTHON, manifests
from workbench.launchers.task_helper import CANCEL

if TYPE_CHECKING:
    from workbench.config import Problem, RunConfig

COMMAND_SECONDS = 10.0
_Object = Mapping[str, Any]
MANIFEST = "manifest.yaml"
CLOCK = "clock"
"""A file that is touched to read the clock of the volume."""
RESTART_SECONDS = 50.0
"""Kubernetes restarts a failed task within 10, 20, 40 s, the first three times."""


def _pods_command(namespace: str) -> list[str]:
    """Return the command that shows pods and the events about them."""
    return ["kubectl", "get", "pods,events", *(["--namespace", namespace] if namespace else ())]


def why_waiting(job: str, namespace: str) -> str:
    """Return what the pods of a job wait for; empty if nothing is known of the job.

    Pods and events of a job have names that begin with the job's name. Without kubectl, or if it
    gets no answer, the result names the command to type or the error.
    """
    typed = _pods_command(namespace)
    if shutil.which(typed[0]) is None:
        return f"{' '.join(typed)} shows the state of its pods"
    try:
        done = subprocess.run(
            [*typed, "--output=json"],
            capture_output=True, text=True, timeout=COMMAND_SECONDS, check=True,
        )  # fmt: skip
        found = json.loads(done.stdout)["items"]
    except subprocess.CalledProcessError as error:
        return f"{' '.join(typed)} fails here: {error.stderr.strip()}"
    except (OSError, ValueError, KeyError, subprocess.TimeoutExpired) as error:
        return f"{' '.join(typed)} fails here: {error}"
    return "; ".join(dict.fromkeys(_reasons(job, found)))


def _reasons(job: str, found: Sequence[_Object]) -> Iterator[str]:
    """Yield the state of each pod of the job, else the last warning about the job."""
    pods = [each for each in found if each["kind"] == "Pod" and _is_of(job, each["metadata"])]
    for pod in pods:
        yield f"pod {pod['metadata']['name']} is {_state(pod['status'])}"
    warnings = [
        each["message"]
        for each in found
        if each["kind"] == "Event"
        and each.get("type") == "Warning"
        and _is_of(job, each["involvedObject"])
    ]
    if warnings and not any("(" in _state(pod["status"]) for pod in pods):
        yield warnings[-1]


def _is_of(job: str, named: _Object) -> bool:
    name = str(named["name"])
    return name == job or name.startswith(f"{job}-")


def _state(status: _Object) -> str:
    """Return a pod's phase, or what holds up its container, with the reason in brackets."""
    for container in status.get("containerStatuses", ()):
        if waiting := container.get("state", {}).get("waiting"):
            return _with_reason(waiting.get("reason", "Waiting"), waiting.get("message"))
    for condition in status.get("conditions", ()):
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            return _with_reason(status["phase"], condition.get("message"))
    return str(status["phase"])


def _with_reason(state: str, message: str | None) -> str:
    return f"{state} ({message})" if message else state


class Kubernetes:
    """A cluster that this machine need not reach: only the volume with the runs is shared."""

    name = "kubernetes"

    def python(self, config: RunConfig) -> str:
        """Return the image's Python."""
        return PYTHON

    def reach(self, config: RunConfig) -> Reach:
        """Report that a person reaches the cluster, not this machine."""
        summary = "You apply the manifest; this machine and the cluster share only the volume."
        return Reach(reachable=True, summary=summary)

    def problems(self, config: RunConfig, tasks: Sequence[str]) -> list[Problem]:
        """Return no problems, because the cluster's resources are not known here."""
        return []

    def preview(self, config: RunConfig, tasks: Sequence[str], job_dir: Path) -> str:
        """Return the manifests."""
        import yaml  # only here: no other part of a supervisor needs a package

        objects = manifests(config, tasks, job_dir, _job_name(job_dir))
        return str(yaml.safe_dump_all(objects, sort_keys=False))

    def submit(self, job_dir: Path, config: RunConfig, tasks: Sequence[str]) -> str:
        """Write the manifest into the job's folder; return the job's name."""
        text = self.preview(config, tasks, job_dir)
        (job_dir / MANIFEST).write_text(text, encoding="utf-8")
        return _job_name(job_dir)

    def job_status(self, job_dir: Path, job: str) -> JobStatus | None:
        """Return the job's state, as its helpers' files on the volume show it."""
        attempts = sorted(int(path.parent.name) for path in job_dir.glob("[0-9]*/*-*.clock"))
        if not attempts:
            if (job_dir / CANCEL).exists():
                return JobStatus("over", "CANCELLED")
            why = why_waiting(job, _namespace(job_dir))
            if not why.startswith("pod "):  # perhaps nobody has applied the manifest
                starts = f"{_manifest_command('apply', job_dir)} starts it"
                why = "; ".join(filter(None, (starts, why)))
            return JobStatus("waiting", "WRITTEN", why)
        attempt = attempts[-1]
        tasks = json.loads((job_dir / "job.json").read_text(encoding="utf-8"))["tasks"]
        exits = [job_dir / str(attempt) / f"{task}.exit" for task in tasks]
        if not all(path.exists() for path in exits):
            return JobStatus("running", "RUNNING", attempt=attempt)
        statuses = [json.loads(path.read_text(encoding="utf-8"))["status"] for path in exits]
        if not any(statuses):
            return JobStatus("over", "COMPLETED", attempt=attempt)
        newest = max(path.stat().st_mtime for path in exits)
        if _volume_time(job_dir) - newest < RESTART_SECONDS and not (job_dir / CANCEL).exists():
            return JobStatus("running", "RESTARTING", attempt=attempt)
        return JobStatus(
            "over", "FAILED", f"{_manifest_command('delete', job_dir)} removes it", attempt=attempt
        )

    def cancel(self, job_dir: Path, job: str) -> None:
        """Ask the job's helpers to end, including helpers that start later."""
        (job_dir / CANCEL).touch()


def _volume_time(job_dir: Path) -> float:
    """Return the time on the clock of the volume, which can differ from this machine's clock."""
    clock = job_dir / CLOCK
    clock.touch()
    return clock.stat().st_mtime


def _namespace(job_dir: Path) -> str:
    plan = json.loads((job_dir.parents[1] / "plan.json").read_text(encoding="utf-8"))
    return str(plan["config"].get("namespace") or "")


def _job_name(job_dir: Path) -> str:
    return f"run-{job_dir.parents[1].name}-{int(job_dir.name)}".lower()


def _manifest_command(verb: str, job_dir: Path) -> str:
    return shlex.join(["kubectl", verb, "-f", str(job_dir / MANIFEST)])
