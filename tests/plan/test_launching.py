"""The places where tasks run, and the fields that only jobs use."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from tests.machines import machine
from workbench import catalog
from workbench.codegen import render_script
from workbench.config import RunConfig
from workbench.plan import Plan, PlanError, make_plan, rehearsal_in_words, rehearsed

WORKERS: dict[str, Any] = {
    "launcher": "slurm",
    "strategy": "multi_worker_mirrored",
    "workers": 2,
}


def plan_of(**fields: Any) -> Plan:
    return make_plan(RunConfig(**fields), machine())


def problems(**fields: Any) -> dict[str, str]:
    with pytest.raises(PlanError) as caught:
        plan_of(**fields)
    return {problem.field: str(problem) for problem in caught.value.problems}


def test_a_job_only_field_is_refused_on_this_machine() -> None:
    found = problems(launcher="local", partition="gpu", gpus_per_task=2)
    assert set(found) == {"partition", "gpus_per_task"}
    assert "choose the launcher slurm" in found["partition"]


def test_an_unknown_launcher_suggests_the_nearest() -> None:
    assert "Did you mean slurm" in problems(launcher="slrum")["launcher"]


def test_wrong_numbers_of_a_job_are_problems_of_their_fields() -> None:
    found = problems(**WORKERS, nodes=0, time_limit_minutes=-1, gpus_per_task=-1)
    assert set(found) == {"nodes", "time_limit_minutes", "gpus_per_task"}


def test_a_partition_of_two_lines_is_refused() -> None:
    assert set(problems(**WORKERS, partition="gpu\n#SBATCH --exclusive")) == {"partition"}


def test_a_tpu_cannot_be_used_through_slurm() -> None:
    assert "launcher" in problems(strategy="tpu", launcher="slurm")


def test_workers_of_a_job_use_the_cpus_of_their_hosts() -> None:
    plan = plan_of(**WORKERS)
    assert (plan.num_replicas_in_sync, plan.workers, plan.virtual) == (2, 2, False)
    script = render_script(plan)
    assert "on each worker's CPU" in script
    assert "WORKERS = 2" in script


def test_each_worker_has_the_gpus_of_its_task() -> None:
    plan = plan_of(**WORKERS, gpus_per_task=4)
    assert (plan.num_replicas_in_sync, plan.local_replicas) == (8, 4)
    assert plan.physical_devices == ("GPU:0", "GPU:1", "GPU:2", "GPU:3")
    assert "open_gpus()" in render_script(plan)


def test_a_worker_of_parameter_server_has_one_gpu() -> None:
    plan = plan_of(**{**WORKERS, "strategy": "parameter_server"}, gpus_per_task=1)
    assert plan.physical_devices == ("GPU:0",)
    assert plan.tasks == ("chief-0", "worker-0", "worker-1", "ps-0")
    assert "the GPU of its host" in render_script(plan)


def test_a_script_of_one_task_is_the_same_with_every_launcher() -> None:
    here = plan_of(strategy="mirrored")
    there = plan_of(strategy="mirrored", launcher="slurm")
    assert dataclasses.replace(there, config=here.config) == here
    assert render_script(there) == render_script(here)


def test_a_field_of_another_launcher_is_refused_with_the_launchers_that_have_it() -> None:
    found = problems(**{**WORKERS, "launcher": "ray"}, partition="gpu", nodes=2)
    assert set(found) == {"partition", "nodes"}
    assert "choose the launcher slurm" in found["partition"]
    assert set(problems(**WORKERS, ray_address="10.0.0.1:6379")) == {"ray_address"}


def test_ray_train_has_no_parameter_servers_and_no_client() -> None:
    asked = {**WORKERS, "launcher": "ray", "strategy": "parameter_server"}
    assert "launcher" in problems(**asked)
    asked = {**WORKERS, "launcher": "ray", "ray_address": "ray://10.0.0.1:10001"}
    assert "a node of the cluster" in problems(**asked)["ray_address"]


def test_kubernetes_needs_an_image_and_a_volume() -> None:
    found = problems(**{**WORKERS, "launcher": "kubernetes"}, node_selector="gpu", volume_path="/a")
    assert set(found) == {"container", "volume_claim", "node_selector", "volume_path"}
    assert "Name the PersistentVolumeClaim" in found["volume_claim"]


def test_a_tpu_of_kubernetes_is_planned_by_its_chips() -> None:
    asked = {"launcher": "kubernetes", "container": "image", "volume_claim": "runs"}
    assert set(problems(**asked, strategy="tpu")) >= {"tpus_per_task"}
    plan = plan_of(**asked, strategy="tpu", tpus_per_task=4)
    assert (plan.num_replicas_in_sync, plan.tasks) == (4, ("worker-0",))


@pytest.mark.parametrize(("asked", "workers"), [(None, 2), (3, 3), (16, 4)])
def test_a_rehearsal_is_of_two_to_four_workers_on_this_machine(
    asked: int | None, workers: int
) -> None:
    config = RunConfig(**{**WORKERS, "workers": asked}, nodes=2, partition="gpu", gpus_per_task=1)
    plan = make_plan(rehearsed(config), machine())
    assert (plan.config.launcher, plan.workers) == ("local", workers)
    assert plan.config.restarts


def test_a_rehearsal_keeps_the_values_of_the_config_and_names_those_that_it_changes() -> None:
    config = RunConfig(replicas=2, epochs=5, per_replica_batch_size=32, cross_device_ops="nccl")
    after = rehearsed(config)
    assert (after.epochs, after.per_replica_batch_size) == (5, 32)
    assert rehearsal_in_words(config) == (
        "The rehearsal trains this config with several processes on this machine. It changes: "
        "strategy MultiWorkerMirrored instead of Mirrored, replicas not set instead of 2, "
        "workers 2, cross device ops TensorFlow's default instead of NCCL, restarts 100. "
        "Everything else stays the same."
    )


@pytest.mark.parametrize("strategy", catalog.STRATEGIES)
def test_every_strategy_can_be_rehearsed(strategy: str) -> None:
    config = rehearsed(RunConfig(strategy=strategy, cross_device_ops="nccl", replicas=2))
    led = strategy == "parameter_server"
    assert make_plan(config, machine()).tasks[0] == ("chief-0" if led else "worker-0")
