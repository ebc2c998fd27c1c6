"""Which devices take part, and how many replicas run on them."""

from typing import Any

import pytest

from tests.machines import FOUR_GPUS, GIB, LAPTOP, ONE_GPU, TWO_GPUS, machine
from workbench import catalog
from workbench.config import Problem, RunConfig
from workbench.devices import Devices
from workbench.plan import Plan, PlanError, make_plan


def plan(machine: Devices, **fields: Any) -> Plan:
    return make_plan(RunConfig(**fields), machine)


def problem(machine: Devices, **fields: Any) -> Problem:
    with pytest.raises(PlanError) as caught:
        plan(machine, **fields)
    (only,) = caught.value.problems
    return only


FOUR = ("GPU:0", "GPU:1", "GPU:2", "GPU:3")


@pytest.mark.parametrize(
    ("where", "physical", "logical", "virtual"),
    [
        (LAPTOP, ("CPU:0",), ("CPU:0", "CPU:1"), True),
        (ONE_GPU, ("GPU:0",), ("GPU:0",), False),
        (TWO_GPUS, ("GPU:0", "GPU:1"), ("GPU:0", "GPU:1"), False),
        (FOUR_GPUS, FOUR, FOUR, False),
    ],
)  # fmt: skip
def test_the_default_config_has_a_replica_on_each_gpu_or_two_on_the_cpu(
    where: Devices, physical: tuple[str, ...], logical: tuple[str, ...], virtual: bool
) -> None:
    made = make_plan(RunConfig(), where)
    assert made.strategy == "mirrored"
    assert made.physical_devices == physical
    assert made.replica_devices == logical
    assert made.num_replicas_in_sync == made.local_replicas == len(logical)
    assert made.virtual is virtual


def test_a_subset_of_the_gpus_is_numbered_from_zero() -> None:
    made = plan(FOUR_GPUS, devices=("GPU:3", "GPU:1"))
    assert made.physical_devices == ("GPU:3", "GPU:1")
    assert made.replica_devices == ("GPU:0", "GPU:1")
    assert not made.virtual


def test_fewer_replicas_than_gpus_take_the_first_ones() -> None:
    assert plan(FOUR_GPUS, replicas=2).physical_devices == ("GPU:0", "GPU:1")


def test_one_gpu_is_split_by_its_memory() -> None:
    made = plan(TWO_GPUS, devices=("GPU:1",), replicas=3)
    assert made.virtual
    assert made.physical_devices == ("GPU:1",)
    assert made.gpu_memory == int(24 * 1024 * 0.9 / 3)
    assert made.cross_device_ops == "reduction_to_one_device"
    assert "ReductionToOneDevice" in made.notes[0]


def test_a_gpu_of_unknown_memory_needs_a_given_limit() -> None:
    unknown = machine(None)
    found = problem(unknown, replicas=2)
    assert found.field == "gpu_memory"
    assert "not known" in found.rule
    assert plan(unknown, replicas=2, gpu_memory=2048).gpu_memory == 2048


@pytest.mark.parametrize("memory", ["growth", "all", 1024])
def test_real_gpus_take_memory_as_configured(memory: str | int) -> None:
    assert plan(TWO_GPUS, gpu_memory=memory).gpu_memory == memory
    assert plan(machine(None, None), gpu_memory=memory).gpu_memory == memory


@pytest.mark.parametrize(
    ("fields", "most"),
    [({}, "16,384"), ({"devices": ("GPU:1",)}, "24,576"), ({"strategy": "default"}, "16,384")],
)
def test_a_limit_fits_the_smallest_gpu_that_takes_part(fields: dict[str, Any], most: str) -> None:
    found = problem(TWO_GPUS, gpu_memory=30_000, **fields)
    assert found.field == "gpu_memory"
    assert found.rule.startswith(f"at most {most} MiB per replica")


def test_more_replicas_than_devices_are_virtual_only_on_one_device() -> None:
    found = problem(TWO_GPUS, replicas=3)
    assert found.field == "replicas"
    assert found.rule == "at most one per device, here 2"
    assert (
        found.fix == "Set replicas to 2, or choose a single device to split it into 3 virtual ones."
    )
    assert plan(LAPTOP, replicas=8).virtual


def test_a_single_replica_is_not_virtual() -> None:
    made = plan(LAPTOP, replicas=1)
    assert (made.num_replicas_in_sync, made.virtual, made.cross_device_ops) == (1, False, "default")


@pytest.mark.parametrize("strategy", ["default", "one_device"])
def test_the_single_device_strategies_take_the_first_device(strategy: str) -> None:
    assert plan(LAPTOP, strategy=strategy).physical_devices == ("CPU:0",)
    assert plan(TWO_GPUS, strategy=strategy).physical_devices == ("GPU:0",)
    chosen = plan(TWO_GPUS, strategy=strategy, devices=("GPU:1",))
    assert (chosen.physical_devices, chosen.replica_devices) == (("GPU:1",), ("GPU:0",))
    assert plan(TWO_GPUS, strategy=strategy, devices=("CPU:0",)).physical_devices == ("CPU:0",)


@pytest.mark.parametrize("strategy", ["default", "one_device"])
def test_the_single_device_strategies_have_one_replica(strategy: str) -> None:
    assert problem(LAPTOP, strategy=strategy, replicas=2).field == "replicas"
    found = problem(TWO_GPUS, strategy=strategy, devices=("GPU:0", "GPU:1"))
    assert (found.field, found.rule) == ("devices", f"one device with the strategy {strategy}")


@pytest.mark.parametrize(
    ("devices", "rule", "fix"),
    [
        (("GPU:2",), "devices of this machine (GPU:0, GPU:1, CPU:0)", "Choose GPU:0, GPU:1."),
        (("gpu:0",), "devices of this machine (GPU:0, GPU:1, CPU:0)", "Choose GPU:0, GPU:1."),
        (("GPU:0", "GPU:0"), "a list without repeats", "Name each device once: GPU:0."),
        (("GPU:0", "CPU:0"), "GPUs only, or the CPU alone",
         "Choose from the GPUs (GPU:0, GPU:1), or only CPU:0."),
        (("CPU:0", "CPU:1"), "devices of this machine (GPU:0, GPU:1, CPU:0)",
         "The CPU is one device, CPU:0; set replicas to split it."),
    ],
)  # fmt: skip
def test_devices_must_be_on_the_machine(devices: tuple[str, ...], rule: str, fix: str) -> None:
    found = problem(TWO_GPUS, devices=devices)
    assert (found.field, found.rule, found.fix) == ("devices", rule, fix)


def test_an_empty_list_of_devices_means_the_default() -> None:
    assert plan(TWO_GPUS, devices=()).physical_devices == ("GPU:0", "GPU:1")


@pytest.mark.parametrize(
    ("where", "fields", "what"),
    [
        (LAPTOP, {}, "CPU devices"),
        (TWO_GPUS, {"devices": ("CPU:0",)}, "CPU devices"),
        (ONE_GPU, {"replicas": 2}, "virtual devices of one GPU"),
    ],
)
def test_nccl_needs_real_gpus(where: Devices, fields: dict[str, Any], what: str) -> None:
    found = problem(where, cross_device_ops="nccl", **fields)
    assert found.field == "cross_device_ops"
    assert found.got == "nccl"
    assert what in found.rule
    assert "reduction_to_one_device" in found.fix


def test_nccl_between_workers_needs_a_gpu_in_each() -> None:
    fields = {"strategy": "multi_worker_mirrored", "communication": "nccl"}
    for where, devices in ((LAPTOP, None), (TWO_GPUS, ("CPU:0",))):
        found = problem(where, **fields, devices=devices)
        assert (found.field, found.got) == ("communication", "nccl")
        assert found.rule == "auto or ring on CPUs: NCCL needs a GPU in each worker"
        assert found.fix == "Choose ring."
    assert plan(TWO_GPUS, **fields).workers == 2


def test_cross_device_ops_are_used_as_configured_and_the_default_works_everywhere() -> None:
    assert plan(TWO_GPUS).cross_device_ops == "default"
    assert plan(TWO_GPUS, cross_device_ops="nccl").cross_device_ops == "nccl"
    assert plan(LAPTOP, cross_device_ops="hierarchical_copy").notes == ()
    assert plan(LAPTOP).cross_device_ops == "reduction_to_one_device"


USED_BY = {
    "workers": ({"multi_worker_mirrored", "parameter_server"}, 3),
    "parameter_servers": ({"parameter_server"}, 2),
    "evaluator": ({"parameter_server"}, True),
    "rendezvous_seconds": ({"multi_worker_mirrored", "parameter_server"}, 60),
    "communication": ({"multi_worker_mirrored"}, "ring"),
    "bytes_per_pack": ({"multi_worker_mirrored"}, 4096),
    "cross_device_ops": ({"mirrored"}, "hierarchical_copy"),
    "learning_rate_scaling": (set(catalog.STRATEGIES) - {"parameter_server"}, "linear"),
    "xla": ({"default", "one_device", "mirrored", "multi_worker_mirrored"}, True),
}
REPLICAS_OF = {"tpu": {"tpu": "my-tpu", "replicas": 8}}


@pytest.mark.parametrize("strategy", catalog.STRATEGIES)
@pytest.mark.parametrize("field", USED_BY)
def test_a_field_that_the_strategy_does_not_use_keeps_its_default(
    field: str, strategy: str
) -> None:
    used_by, value = USED_BY[field]
    fields = {"strategy": strategy, **REPLICAS_OF.get(strategy, {}), field: value}
    if strategy in used_by:
        assert getattr(plan(LAPTOP, **fields).config, field) == value
        return
    usual = {"communication": "auto", "bytes_per_pack": "0", "cross_device_ops": "default",
             "learning_rate_scaling": "none", "evaluator": "off", "xla": "off",
             }.get(field, "empty")  # fmt: skip
    found = problem(LAPTOP, **fields)
    assert (found.field, found.got) == (field, str(value))
    why = catalog.STRATEGIES[strategy].uncompiled if field == "xla" else "which does not use it"
    assert found.rule == f"{usual} with the strategy {strategy}, {why}"
    fix = f"Leave it {usual}" if usual in ("empty", "off") else f"Set it to {usual}"
    assert found.fix == f"{fix}, or choose another strategy."


@pytest.mark.parametrize("strategy", sorted(set(catalog.STRATEGIES) - {"tpu"}))
def test_a_tpu_name_is_only_for_the_strategy_tpu(strategy: str) -> None:
    found = problem(LAPTOP, strategy=strategy, tpu="my-tpu")
    assert (found.field, found.got) == ("tpu", "my-tpu")
    assert found.rule == f"local with the strategy {strategy}, which does not use it"
    assert found.fix == "Set it to local, or choose another strategy."


def test_a_wrong_value_is_reported_once() -> None:
    assert problem(LAPTOP, communication="rign").fix == "Did you mean ring?"
    assert problem(LAPTOP, bytes_per_pack=-1).rule == "0 or more"
    assert problem(LAPTOP, workers=-1).rule == "a number above 0"


def test_the_smallest_known_memory_counts_if_others_are_unknown() -> None:
    found = problem(machine(None, 4 * GIB), gpu_memory=5000)
    assert found.rule.startswith("at most 4,096 MiB")
