"""The state of a job's pods on Kubernetes, as kubectl reports it where it is on PATH."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

COMMAND_SECONDS = 10.0
Object = Mapping[str, Any]


def command(namespace: str) -> list[str]:
    """Return the command that shows pods and the events about them."""
    return ["kubectl", "get", "pods,events", *(["--namespace", namespace] if namespace else ())]


def why_waiting(job: str, namespace: str) -> str:
    """Return what the pods of a job wait for; empty if nothing is known of the job.

    Pods and events of a job have names that begin with the job's name. Without kubectl, or if it
    gets no answer, the result names the command to type or the error.
    """
    typed = command(namespace)
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


def _reasons(job: str, found: Sequence[Object]) -> Iterator[str]:
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


def _is_of(job: str, named: Object) -> bool:
    name = str(named["name"])
    return name == job or name.startswith(f"{job}-")


def _state(status: Object) -> str:
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
