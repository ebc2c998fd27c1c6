"""A stand-in for Kubernetes that runs each pod of a run as a process.

It gives a pod's container the fields that the controller of the manifest's kind sets. The names of
a Kubernetes service do not exist here, so tasks meet at the names of their hosts.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.launchers.hosts import Hosts
from tests.waiting import until
from workbench.launchers.job import JobFolder
from workbench.runs import Run

INDEX = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
LABEL = "metadata.labels['training.kubeflow.org/replica-{}']"
OPERATORS = {"TF_CONFIG": '{"cluster": {"worker": ["nowhere.invalid:2222"]}}'}
"""The variable that Kubeflow's operator adds to each container of a TFJob."""
Object = Mapping[str, Any]


@dataclass(frozen=True)
class Pod:
    """What a pod's container runs."""

    command: list[str]
    environment: dict[str, str]


def pods_of(run: Run) -> list[Pod]:
    """Return the pods of the newest manifest of a run, in the order of its tasks."""
    folder = until(lambda: JobFolder.newest(run.dir))
    *_, job = yaml.safe_load_all((folder.path / "manifest.yaml").read_text())
    return list(KINDS[job["kind"]](job["spec"]))


def begin_pod(run: Run, hosts: Hosts, host: int) -> subprocess.Popen[bytes]:
    """Start the pod of a host's worker, with the manifest of the run's job."""
    pod = pods_of(run)[host]
    return subprocess.Popen(hosts.command(host, pod.command), env=pod.environment)


def _of_job(spec: Object) -> Iterator[Pod]:
    for index in range(spec["completions"]):
        yield _pod(spec["template"], {INDEX: str(index)})


def _of_jobset(spec: Object) -> Iterator[Pod]:
    for each in spec["replicatedJobs"]:
        yield from _of_job(each["template"]["spec"])


def _of_tfjob(spec: Object) -> Iterator[Pod]:
    for kind, replicas in spec["tfReplicaSpecs"].items():
        for index in range(replicas["replicas"]):
            labels = {LABEL.format("type"): kind.lower(), LABEL.format("index"): str(index)}
            yield _pod(replicas["template"], labels, OPERATORS)


KINDS: dict[str, Callable[[Object], Iterator[Pod]]] = {
    "Job": _of_job,
    "JobSet": _of_jobset,
    "TFJob": _of_tfjob,
}


def _pod(template: Object, fields: Mapping[str, str], added: Mapping[str, str] = {}) -> Pod:
    """Return the pod of a template in which the fields have these values."""
    (container,) = template["spec"]["containers"]
    values = dict(added)
    for each in container["env"]:
        source = each.get("valueFrom")
        values[each["name"]] = (
            fields[source["fieldRef"]["fieldPath"]] if source else _filled(each["value"], values)
        )
    values.pop("WORKBENCH_DOMAIN", None)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    command = [_filled(word, values) for word in container["command"]]
    return Pod(command, {**os.environ, **values, "PATH": path})


def _filled(text: str, values: Mapping[str, str]) -> str:
    """Return a text with the values of the variables that it names as `$(NAME)`."""
    return re.sub(r"\$\((\w+)\)", lambda found: values[found[1]], text)
