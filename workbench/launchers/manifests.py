"""The Kubernetes manifests of a run: one pod per task, found by name, on one shared volume."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .engine import HELPER, RESTARTS

if TYPE_CHECKING:
    from workbench.config import RunConfig

SAVE_SECONDS = 60
"""The time, in seconds, in which a pod that must end may save."""
PYTHON = "python3"
"""The image's Python."""
_INDEX = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
_TF_KIND = "metadata.labels['training.kubeflow.org/replica-type']"
_TF_INDEX = "metadata.labels['training.kubeflow.org/replica-index']"
_TF_KINDS = {"chief": "Chief", "worker": "Worker", "ps": "PS", "evaluator": "Evaluator"}

Manifest = dict[str, Any]


def manifests(config: RunConfig, tasks: Sequence[str], job_dir: Path, name: str) -> list[Manifest]:
    """Return the objects that run the tasks of a job's folder, in the order to apply them."""
    return _KINDS[config.kubernetes_kind](config, tasks, job_dir, name)


def _job(config: RunConfig, tasks: Sequence[str], job_dir: Path, name: str) -> list[Manifest]:
    """Return an Indexed Job and the headless service by which its pods are found.

    https://kubernetes.io/docs/tasks/job/job-with-pod-to-pod-communication
    """
    selector = {"job-name": name}
    service = {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": selector}
    pod = _pod(config, job_dir, _index_env(name), subdomain=name)
    return [
        {"apiVersion": "v1", "kind": "Service", **_head(config, name), "spec": service},
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            **_head(config, name),
            "spec": _indexed(tasks, pod, _restarts(config) * len(tasks)),
        },
    ]


def _jobset(config: RunConfig, tasks: Sequence[str], job_dir: Path, name: str) -> list[Manifest]:
    """Return a JobSet, which restarts all tasks together and makes the service itself."""
    pod = _pod(config, job_dir, _index_env(name), restart="Never")
    of_job = {"name": "task", "replicas": 1, "template": {"spec": _indexed(tasks, pod, 0)}}
    spec = {
        "network": {
            "enableDNSHostnames": True,
            "publishNotReadyAddresses": True,
            "subdomain": name,
        },
        "failurePolicy": {"maxRestarts": _restarts(config)},
        "replicatedJobs": [of_job],
    }
    kind = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet"}
    return [{**kind, **_head(config, name), "spec": spec}]


def _tfjob(config: RunConfig, tasks: Sequence[str], job_dir: Path, name: str) -> list[Manifest]:
    """Return a TFJob of Kubeflow's training operator v1, which names its pods by their tasks."""
    env = [_field("KIND", _TF_KIND), _field("INDEX", _TF_INDEX), _value("TASK", "$(KIND)-$(INDEX)")]
    pod = _pod(config, job_dir, env, container="tensorflow")
    counts = {
        _TF_KINDS[kind]: sum(task.startswith(f"{kind}-") for task in tasks) for kind in _TF_KINDS
    }
    replicas = {
        kind: {"replicas": count, "restartPolicy": "OnFailure", "template": {"spec": pod}}
        for kind, count in counts.items()
        if count
    }
    spec = {
        "runPolicy": {"backoffLimit": _restarts(config) * len(tasks), "cleanPodPolicy": "Running"},
        "tfReplicaSpecs": replicas,
    }
    kind = {"apiVersion": "kubeflow.org/v1", "kind": "TFJob"}
    return [{**kind, **_head(config, name), "spec": spec}]


_KINDS = {"job": _job, "jobset": _jobset, "tfjob": _tfjob}


def _restarts(config: RunConfig) -> int:
    return RESTARTS if config.restarts is None else config.restarts


def _head(config: RunConfig, name: str) -> Manifest:
    namespace = {"namespace": config.namespace} if config.namespace else {}
    return {"metadata": {"name": name, **namespace}}


def _indexed(tasks: Sequence[str], pod: Manifest, restarts: int) -> Manifest:
    """Return a Job's spec with one pod for each task. Each pod knows its index."""
    return {
        "completions": len(tasks),
        "parallelism": len(tasks),
        "completionMode": "Indexed",
        "backoffLimit": restarts,
        "template": {"spec": pod},
    }


def _pod(
    config: RunConfig,
    job_dir: Path,
    env: Sequence[Manifest],
    *,
    subdomain: str = "",
    restart: str = "OnFailure",
    container: str = "task",
) -> Manifest:
    """Return the pod of a task, whose helper finds the others and starts train.py."""
    runs_dir = str(job_dir.parents[2])
    path = {"subPath": config.volume_path} if config.volume_path else {}
    of_task = {
        "name": container,
        "image": config.container,
        "command": [PYTHON, str(job_dir / HELPER), str(job_dir), "$(TASK)", "auto"],
        "env": list(env),
        "resources": _resources(config),
        "volumeMounts": [{"name": "runs", "mountPath": runs_dir, **path}],
    }
    claim = {"persistentVolumeClaim": {"claimName": config.volume_claim}}
    pod: Manifest = {
        "restartPolicy": restart,
        "terminationGracePeriodSeconds": SAVE_SECONDS,
        "containers": [of_task],
        "volumes": [{"name": "runs", **claim}],
    }
    if subdomain:
        pod["subdomain"] = subdomain
    if selector := selected(config.node_selector):
        pod["nodeSelector"] = selector
    return pod


def _resources(config: RunConfig) -> Mapping[str, Mapping[str, str]]:
    """Return the resources that the node reserves for the pod; devices and memory are limited."""
    memory = {"memory": f"{config.memory_gib_per_task}Gi"} if config.memory_gib_per_task else {}
    gpus = {"nvidia.com/gpu": str(config.gpus_per_task)} if config.gpus_per_task else {}
    tpus = {"google.com/tpu": str(config.tpus_per_task)} if config.tpus_per_task else {}
    cpus = {"cpu": str(config.cpus_per_task)} if config.cpus_per_task else {}
    limits = {**memory, **gpus, **tpus}
    asked = {"requests": {**cpus, **limits}, "limits": limits}
    return {name: values for name, values in asked.items() if values}


def selected(text: str | None) -> dict[str, str]:
    """Return the labels in `key=value, key=value`, which the plan has checked."""
    parts = [part.partition("=") for part in (text or "").split(",") if part.strip()]
    return {key.strip(): value.strip() for key, _, value in parts}


def _index_env(domain: str) -> list[Manifest]:
    return [_field("TASK", _INDEX), _value("WORKBENCH_DOMAIN", domain)]


def _field(name: str, path: str) -> Manifest:
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


def _value(name: str, value: str) -> Manifest:
    return {"name": name, "value": value}
