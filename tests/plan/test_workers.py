"""The placement of workers: on the CPU, on equal parts of the GPUs, or on one GPU each."""

from typing import Any

import pytest

from tests.machines import FOUR_GPUS, GIB, LAPTOP, ONE_GPU, machine
from workbench.config import Problem, RunConfig
from workbench.devices import Devices
from workbench.plan import Plan, PlanError, make_plan

SYNCHRONOUS, ASYNCHRONOUS = "multi_worker_mirrored", "parameter_server"


def plan(where: Devices, strategy: str, **fields: Any) -> Plan:
    return make_plan(RunConfig(strategy=strategy, **fields), where)


def problem(where: Devices, strategy: str, **fields: Any) -> Problem:
    with pytest.raises(PlanError) as caught:
        plan(where, strategy, **fields)
    (found,) = caught.value.problems
    return found


@pytest.mark.parametrize("strategy", [SYNCHRONOUS, ASYNCHRONOUS])
def test_on_a_cpu_there_are_two_workers_by_default(strategy: str) -> None:
    assert plan(LAPTOP, strategy).workers == 2
    made = plan(LAPTOP, strategy, workers=3)
    assert (made.workers, made.local_replicas, made.physical_devices) == (3, 1, ("CPU:0",))


def test_synchronous_workers_have_equal_parts_of_the_gpus() -> None:
    made = plan(FOUR_GPUS, SYNCHRONOUS)
    assert (made.workers, made.local_replicas, made.num_replicas_in_sync) == (2, 2, 4)
    found = problem(FOUR_GPUS, SYNCHRONOUS, workers=3)
    assert (found.field, found.got) == ("workers", "3")
    assert found.rule == "a number that divides the 4 GPUs, which workers do not share"


@pytest.mark.parametrize(("gpus", "workers"), [(1, 1), (2, 2), (3, 3), (4, 2), (9, 3)])
def test_any_number_of_gpus_has_a_default_number_of_synchronous_workers(
    gpus: int, workers: int
) -> None:
    made = plan(machine(*[16 * GIB] * gpus), SYNCHRONOUS)
    assert (made.workers, made.num_replicas_in_sync) == (workers, gpus)


def test_workers_do_not_share_a_single_gpu() -> None:
    found = problem(ONE_GPU, SYNCHRONOUS, workers=2)
    assert (found.field, found.got) == ("workers", "2")
    assert found.rule == "1 on a single GPU, which workers do not share"


def test_asynchronous_workers_have_one_gpu_each() -> None:
    made = plan(FOUR_GPUS, ASYNCHRONOUS)
    assert (made.workers, made.local_replicas, len(made.physical_devices)) == (4, 1, 4)
    fewer = plan(FOUR_GPUS, ASYNCHRONOUS, workers=2)
    assert (fewer.local_replicas, fewer.physical_devices) == (1, ("GPU:0", "GPU:1"))
    assert plan(ONE_GPU, ASYNCHRONOUS).workers == 1


def test_more_asynchronous_workers_than_gpus_are_refused() -> None:
    found = problem(FOUR_GPUS, ASYNCHRONOUS, workers=5)
    assert (found.field, found.got) == ("workers", "5")
    assert found.rule == "at most 4, because each worker has its own GPU"
    assert "CPU:0" in found.fix


def test_a_chosen_gpu_that_would_stay_idle_is_named() -> None:
    found = problem(FOUR_GPUS, ASYNCHRONOUS, workers=2, devices=("GPU:1", "GPU:2", "GPU:3"))
    assert (found.field, found.rule) == ("devices", "2 GPUs, one for each worker")
    assert found.fix == "Leave GPU:3 out, or set workers to 3."
