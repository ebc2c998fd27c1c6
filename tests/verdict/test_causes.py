"""The table of causes: from parts and a config to one change that can be planned."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import pytest

from tests.machines import LAPTOP
from tests.verdict.steps import broken_down, with_shares
from workbench.config import RunConfig
from workbench.plan import PlanError, make_plan
from workbench.plan.plan import DATASET, DataFacts
from workbench.verdict.causes import CAUSES, Case, ranked, suggest, undecided, without_change
from workbench.verdict.parts import PARTS, WITHIN_COMPUTE

ONE = RunConfig(strategy="one_device", global_batch_size=64)
TWO = RunConfig(global_batch_size=64)
WORKERS = RunConfig(strategy="multi_worker_mirrored", global_batch_size=64)
OWN = DataFacts(DATASET, 1000, 100, "(10,)", 40)


def case_of(config: RunConfig, parts: Mapping[str, float], facts: DataFacts | None = None) -> Case:
    plan = make_plan(config, LAPTOP)
    plan = dataclasses.replace(plan, data_facts=facts)
    breakdown = broken_down(parts, plan.workers, plan.num_replicas_in_sync)
    return Case(config, plan, LAPTOP.cpu_cores, breakdown, steps_per_call=10)


def can_be_planned(config: RunConfig) -> bool:
    try:
        make_plan(config, LAPTOP)
    except PlanError:
        return False
    return True


@pytest.mark.parametrize(
    ("config", "parts", "cause", "changes"),
    [
        (ONE, {"input": 2e-3}, "input", {"pipeline": "indexed"}),
        (dataclasses.replace(ONE, pipeline="numpy"), {"input": 1e-3}, "input",
         {"pipeline": "indexed"}),
        (dataclasses.replace(ONE, pipeline="indexed"), {"input": 1e-3}, "input",
         {"per_replica_batch_size": 256, "global_batch_size": None}),
        (dataclasses.replace(ONE, steps_per_call=1), {"host": 1e-3}, "host",
         {"steps_per_call": None}),
        (ONE, {"host": 1e-3}, "host",
         {"per_replica_batch_size": 256, "global_batch_size": None}),
        (dataclasses.replace(ONE, eager=True), {"fixed": 9e-4}, "fixed", {"eager": False}),
        (ONE, {"fixed": 9e-4}, "fixed",
         {"per_replica_batch_size": 256, "global_batch_size": None}),
        (TWO, {"communication": 1e-3}, "communication",
         {"per_replica_batch_size": 128, "global_batch_size": None}),
        (dataclasses.replace(WORKERS, communication="ring"), {"communication": 1e-3},
         "communication", {"communication": "auto"}),
        (WORKERS, {"waiting": 2e-3}, "waiting", None),
        (dataclasses.replace(ONE, steps_per_call=2), {"recording": 1e-3}, "recording",
         {"steps_per_call": None}),
        (ONE, {"input": 1e-4, "host": 1e-4}, None, None),
    ],
)  # fmt: skip
def test_the_largest_part_is_the_cause(
    config: RunConfig, parts: dict[str, float], cause: str | None, changes: dict[str, Any] | None
) -> None:
    case = case_of(config, parts)
    found = next(iter(ranked(case)), None)
    assert (found.part if found else None) == cause
    suggestion = suggest(found, case, can_be_planned) if found else None
    assert (dict(suggestion.changes) if suggestion else None) == changes
    assert cause is None or suggestion or (found and found.advice)


def test_many_replicas_on_few_cores_become_one_replica_a_core() -> None:
    config = RunConfig(replicas=4 * LAPTOP.cpu_cores, global_batch_size=64)
    case = case_of(config, {"crowding": 8.5e-4, "communication": 2e-4})
    (found, *_) = ranked(case)
    assert found.part == "crowding"
    suggestion = suggest(found, case, can_be_planned)
    assert suggestion is not None
    assert suggestion.changes["replicas"] == LAPTOP.cpu_cores
    assert suggestion.changes["global_batch_size"] == 64


def test_replicas_that_do_their_share_are_named_but_not_changed() -> None:
    case = case_of(TWO, {"crowding": 3e-4})
    assert list(ranked(case)) == []
    assert without_change(case.breakdown).part == "crowding"
    assert without_change(broken_down({"crowding": 1e-5})).part == "compute"


@pytest.mark.parametrize(
    ("share", "named", "left_open"),
    [
        ((0.16, 0.15, 0.17), ["input"], []),
        ((0.16, 0.14, 0.18), [], ["input"]),
        ((0.12, 0.00, 0.156), [], ["input"]),
        ((0.12, 0.10, 0.149), [], []),
    ],
)
def test_a_part_is_decided_if_its_interval_is_on_one_side_of_the_least_share(
    share: tuple[float, float, float], named: list[str], left_open: list[str]
) -> None:
    found = with_shares({"input": share, "compute": (0.8, 0.2, 1.1), "fixed": (0.05, 0.0, 0.1)})
    case = dataclasses.replace(case_of(ONE, {}), breakdown=found)
    assert [cause.part for cause in ranked(case)] == named
    assert undecided(found) == left_open


def test_replicas_that_are_slower_together_than_one_become_one() -> None:
    case = case_of(TWO, {"crowding": 7e-4})
    suggestion = suggest(next(iter(ranked(case))), case, can_be_planned)
    assert suggestion is not None
    assert suggestion.changes["strategy"] == "one_device"


def test_a_custom_data_set_is_kept_in_memory() -> None:
    case = case_of(ONE, {"input": 2e-3}, OWN)
    suggestion = suggest(next(iter(ranked(case))), case, lambda _: True)
    assert suggestion is not None
    assert suggestion.changes == {"pipeline": "cached"}


def test_a_batch_with_all_examples_does_not_grow() -> None:
    case = case_of(dataclasses.replace(ONE, global_batch_size=5000), {"fixed": 9e-4})
    cause = next(iter(ranked(case)))
    assert suggest(cause, case, can_be_planned) is None
    assert cause.advice


def test_every_cause_is_a_part_and_has_a_change_or_advice() -> None:
    for cause in CAUSES:
        assert cause.part in {**PARTS, **WITHIN_COMPUTE}
        assert cause.changes or cause.advice
        assert "{share}" in cause.sentence
