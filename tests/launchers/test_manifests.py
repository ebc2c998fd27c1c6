"""Manifests for Kubernetes: compared with the models of its API, and the fields of a pod."""

from pathlib import Path
from typing import Any

import pytest
from kubeflow.training import ApiClient, KubeflowOrgV1TFJob
from kubeflow_trainer_api import models
from kubernetes.client import ApiClient as KubernetesClient

from workbench.config import RunConfig
from workbench.launchers.manifests import Manifest, manifests

WORKERS = ("worker-0", "worker-1")
LED = ("chief-0", "worker-0", "worker-1", "ps-0")
JOB_DIR = Path("/runs/20261121-101500-ab12/jobs/0001")
ASKED: dict[str, Any] = {
    "launcher": "kubernetes",
    "container": "tensorflow/tensorflow:2.20.0-gpu",
    "volume_claim": "runs",
    "volume_path": "of-mine",
    "namespace": "research",
    "node_selector": "cloud.google.com/gke-accelerator=nvidia-tesla-t4",
    "gpus_per_task": 2,
    "cpus_per_task": 4,
    "memory_gib_per_task": 16,
}
KINDS = ("job", "jobset", "tfjob")
MODELS = {
    "Service": "V1Service",
    "Job": "V1Job",
    "JobSet": models.JobsetV1alpha2JobSet,
    "TFJob": KubeflowOrgV1TFJob,
}


def made(kind: str, tasks: tuple[str, ...] = WORKERS, **asked: Any) -> list[Manifest]:
    config = RunConfig(**{**ASKED, **asked}, kubernetes_kind=kind)
    return manifests(config, tasks, JOB_DIR, "run-20261121-101500-ab12-1")


def pods(manifest: Manifest) -> list[Manifest]:
    """Return the specs of pods in a manifest, at any depth."""
    found = [manifest] if "containers" in manifest else []
    for value in manifest.values():
        for each in value if isinstance(value, list) else [value]:
            found += pods(each) if isinstance(each, dict) else []
    return found


def through_its_model(manifest: Manifest) -> Any:
    """Return the fields that the API's model keeps: all, if the model knows every field."""
    model = MODELS[manifest["kind"]]
    if isinstance(model, str):
        client = KubernetesClient()
        read = client._ApiClient__deserialize(manifest, model)
        return client.sanitize_for_serialization(read)
    if model is KubeflowOrgV1TFJob:
        client = ApiClient()
        read = client._ApiClient__deserialize(manifest, "KubeflowOrgV1TFJob")
        return client.sanitize_for_serialization(read)
    return model.from_dict(manifest).to_dict()


@pytest.mark.parametrize("kind", KINDS)
def test_the_apis_models_know_every_field(kind: str) -> None:
    for manifest in made(kind, LED):
        assert through_its_model(manifest) == manifest


def test_a_field_unknown_to_the_api_is_found() -> None:
    (_, job) = made("job")
    job["spec"]["completionsMode"] = "Indexed"
    assert through_its_model(job) != job


@pytest.mark.parametrize("kind", KINDS)
def test_every_pod_has_the_requested_resources(kind: str) -> None:
    found = [pod for manifest in made(kind) for pod in pods(manifest)]
    for pod in found:
        (container,) = pod["containers"]
        wanted = {"memory": "16Gi", "nvidia.com/gpu": "2"}
        assert container["resources"] == {"requests": {"cpu": "4", **wanted}, "limits": wanted}
        assert pod["nodeSelector"] == {"cloud.google.com/gke-accelerator": "nvidia-tesla-t4"}
        assert container["volumeMounts"] == [
            {"name": "runs", "mountPath": "/runs", "subPath": "of-mine"}
        ]
        assert container["image"] == ASKED["container"]


def test_a_job_has_a_pod_for_each_task_and_a_service_that_names_them() -> None:
    service, job = made("job", LED)
    assert (job["spec"]["completions"], job["spec"]["parallelism"]) == (4, 4)
    assert service["spec"]["clusterIP"] == "None"
    assert pods(job)[0]["subdomain"] == service["metadata"]["name"]


def test_a_jobset_restarts_all_tasks_together() -> None:
    (jobset,) = made("jobset")
    assert jobset["spec"]["failurePolicy"] == {"maxRestarts": 3}
    assert jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["backoffLimit"] == 0


def test_a_tfjob_counts_the_tasks_by_their_kinds() -> None:
    (tfjob,) = made("tfjob", LED)
    specs = tfjob["spec"]["tfReplicaSpecs"]
    counts = {kind: spec["replicas"] for kind, spec in specs.items()}
    assert counts == {"Chief": 1, "Worker": 2, "PS": 1}
    assert pods(tfjob)[0]["containers"][0]["name"] == "tensorflow"


def test_a_tpu_is_requested_by_its_chips() -> None:
    (_, job) = made("job", ("worker-0",), gpus_per_task=None, tpus_per_task=4)
    limits = pods(job)[0]["containers"][0]["resources"]["limits"]
    assert limits["google.com/tpu"] == "4"
