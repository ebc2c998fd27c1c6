"""The candidates of a comparison: each combination once, with a reason if it cannot run here."""

from pathlib import Path

import pytest

from tests.machines import LAPTOP, machine
from workbench.config import ConfigError, RunConfig
from workbench.experiments.queueing.grid import Candidate, candidates
from workbench.plan import PlanError, make_plan

MODEL = f"{Path(__file__).parents[2] / 'engine' / 'own_models.py'}:plain"


def labels(config: RunConfig = RunConfig(), **axes: list[object]) -> list[str]:  # noqa: B008
    return [each.label for each in candidates(config, axes, LAPTOP)]


def test_every_combination_is_a_candidate_named_by_its_varied_fields() -> None:
    assert labels(strategy=["one_device", "mirrored"], loop=["custom", "fit"]) == [
        "OneDevice, custom",
        "OneDevice, fit",
        "Mirrored x 2, custom",
        "Mirrored x 2, fit",
    ]
    assert labels(global_batch_size=[64, 128], loop=["fit"]) == [
        "Mirrored x 2, batch 64",
        "Mirrored x 2, batch 128",
    ]
    assert labels(precision=["float32", "mixed_bfloat16"], xla=[False, True]) == [
        "Mirrored x 2, float32, XLA off",
        "Mirrored x 2, float32, XLA on",
        "Mirrored x 2, mixed_bfloat16, XLA off",
        "Mirrored x 2, mixed_bfloat16, XLA on",
    ]
    assert labels(precision=["float32", "mixed_bfloat16"], steps_per_call=[1, None]) == [
        "Mirrored x 2, float32, steps per call: 1",
        "Mirrored x 2, float32, steps per call: auto",
        "Mirrored x 2, mixed_bfloat16, steps per call: 1",
        "Mirrored x 2, mixed_bfloat16, steps per call: auto",
    ]


def test_all_candidates_train_the_same_global_batch_unless_it_varies() -> None:
    names = ["one_device", "mirrored", "multi_worker_mirrored", "central_storage"]
    for config, whole in (
        (RunConfig(), 128),
        (RunConfig(global_batch_size=32), 32),
        (RunConfig(per_replica_batch_size=32), 64),
        (RunConfig(per_replica_batch_size=32, strategy="one_device"), 32),
        (RunConfig(per_replica_batch_size=32, strategy="parameter_server", workers=3), 96),
    ):
        found = candidates(config, {"strategy": names}, LAPTOP)
        plans = [make_plan(each.config, LAPTOP) for each in found]
        assert {plan.global_batch_size for plan in plans} == {whole}


def test_the_batch_of_each_replica_is_the_same_if_that_is_asked_for() -> None:
    axes = {"strategy": ["one_device", "mirrored"]}
    for config in (RunConfig(per_replica_batch_size=32), RunConfig(global_batch_size=64)):
        found = candidates(config, axes, LAPTOP, "per_replica_batch_size")
        plans = [make_plan(each.config, LAPTOP) for each in found]
        assert [plan.global_batch_size for plan in plans] == [32, 64]


def test_a_batch_that_varies_replaces_both_sizes_of_the_config() -> None:
    config = RunConfig(per_replica_batch_size=64)
    found = candidates(config, {"global_batch_size": [64, 256]}, LAPTOP)
    assert [make_plan(each.config, LAPTOP).global_batch_size for each in found] == [64, 256]


def test_the_batch_of_a_config_for_another_machine_comes_from_what_can_run_here() -> None:
    config = RunConfig(strategy="tpu", per_replica_batch_size=32)
    found = candidates(config, {"strategy": ["one_device", "mirrored"]}, LAPTOP)
    assert {each.config.global_batch_size for each in found} == {32}


def test_asynchronous_workers_share_the_global_batch() -> None:
    (found,) = candidates(
        RunConfig(global_batch_size=64, workers=2), {"strategy": ["parameter_server"]}, LAPTOP
    )
    assert make_plan(found.config, LAPTOP).per_replica_batch_size == 32


def test_a_field_that_a_strategy_does_not_use_makes_no_second_candidate() -> None:
    assert labels(strategy=["one_device", "mirrored"], replicas=[2, 4]) == [
        "OneDevice",
        "Mirrored x 2",
        "Mirrored x 4",
    ]


def test_workers_vary_for_the_strategies_that_have_them() -> None:
    names = ["mirrored", "multi_worker_mirrored", "parameter_server"]
    assert labels(strategy=names, workers=[2, 4]) == [
        "Mirrored x 2",
        "MultiWorkerMirrored x 2",
        "MultiWorkerMirrored x 4",
        "ParameterServer x 2",
        "ParameterServer x 4",
    ]


def test_workers_are_named_if_replicas_vary_too() -> None:
    axes = {"strategy": ["multi_worker_mirrored"], "replicas": [2, 4], "workers": [2, 4]}
    found = [each.label for each in candidates(RunConfig(), axes, LAPTOP) if not each.reason]
    assert found == ["MultiWorkerMirrored x 2, 2 workers", "MultiWorkerMirrored x 4, 4 workers"]


def test_a_candidate_that_cannot_run_here_stays_with_a_reason() -> None:
    found = candidates(RunConfig(), {"strategy": ["one_device", "tpu"]}, LAPTOP)
    assert [bool(each.reason) for each in found] == [False, True]
    assert "no TPU here" in found[1].reason


def test_combinations_that_are_all_impossible_are_refused_with_the_problems_of_all() -> None:
    config = RunConfig(global_batch_size=64, epochs=0, clip_norm=-1.0)
    with pytest.raises(PlanError) as raised:
        candidates(config, {"strategy": ["mirrored", "one_device"]}, LAPTOP)
    assert [problem.field for problem in raised.value.problems] == ["epochs", "clip_norm"]


def test_combinations_that_cannot_be_compiled_or_computed_stay_in_the_list() -> None:
    axes = {"precision": ["float32", "mixed_float16"], "xla": [False, True]}
    found = candidates(RunConfig(clip_norm=1.0, model=MODEL), axes, LAPTOP)
    assert [each.label for each in found] == [
        *("Mirrored x 2, float32, XLA off", "float32, XLA on"),
        *("mixed_float16, XLA off", "mixed_float16, XLA on"),
    ]
    assert [each.reason.partition(" must be ")[0] for each in found] == [
        *("", "xla", "clip_norm", "clip_norm"),
    ]


def test_a_strategy_without_xla_is_compared_once() -> None:
    assert labels(strategy=["mirrored", "parameter_server"], xla=[False, True]) == [
        *("Mirrored x 2, XLA off", "Mirrored x 2, XLA on", "ParameterServer x 2, XLA off"),
    ]


def test_several_gpus_are_named_as_replicas() -> None:
    found = candidates(RunConfig(), {"replicas": [1, 2]}, machine(16 * 2**30, 16 * 2**30))
    assert [each.label for each in found] == ["Mirrored", "Mirrored x 2"]


def test_fields_that_change_the_training_or_have_no_values_are_refused() -> None:
    with pytest.raises(ConfigError) as raised:
        candidates(RunConfig(), {"data": ["synthetic", "fashion_mnist"], "loop": []}, LAPTOP)
    assert [problem.field for problem in raised.value.problems] == ["data", "loop"]
    both = {"global_batch_size": [64], "per_replica_batch_size": [32]}
    with pytest.raises(ConfigError, match=r"the only batch size that is varied, .*; got both"):
        candidates(RunConfig(), both, LAPTOP)


@pytest.mark.parametrize(
    ("axes", "got"),
    [
        ({"strategy": ["mirrored", "one_devise"]}, "one_devise"),
        ({"loop": ["fit", "custum"]}, "custum"),
        ({"replicas": [2, 0]}, "0"),
        ({"precision": ["float23"]}, "float23"),
    ],
)
def test_a_value_that_no_machine_can_run_is_refused(
    axes: dict[str, list[object]], got: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        candidates(RunConfig(), axes, LAPTOP)
    assert [problem.got for problem in raised.value.problems] == [got]


def test_a_candidate_survives_a_conversion_to_json() -> None:
    found = candidates(RunConfig(), {"strategy": ["mirrored", "tpu"]}, LAPTOP)
    assert [Candidate.from_json(each.to_json()) for each in found] == found
