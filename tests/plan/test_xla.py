"""Steps that XLA cannot compile are refused before a start, as far as the config shows."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.machines import LAPTOP, TWO_GPUS
from workbench import catalog
from workbench.config import Problem, RunConfig
from workbench.devices import Devices
from workbench.plan import Plan, PlanError, make_plan

OWN = Path(__file__).parents[1] / "verdict" / "own_steps.py"
MODEL = f"{Path(__file__).parents[1] / 'engine' / 'own_models.py'}:plain"
SEVERAL = ("mirrored", "multi_worker_mirrored")
ALONE = ("one_device", "default")
WAITS = {"clip_norm": 1.0, "last_batch": "keep", "step": f"{OWN}:slow_on_one_worker"}
"""Fields that make a replica's step wait for other replicas before its update."""
SUMS = ("clip_norm", "last_batch")
"""Those of them that the step of a built-in model does outside of what is compiled."""


def plan(where: Devices = LAPTOP, **fields: Any) -> Plan:
    return make_plan(RunConfig(xla=True, **fields), where)


def problem(where: Devices = LAPTOP, **fields: Any) -> Problem:
    with pytest.raises(PlanError) as caught:
        plan(where, **fields)
    (found,) = (each for each in caught.value.problems if each.field == "xla")
    assert found.got == "True"
    return found


@pytest.mark.parametrize("loop", catalog.LOOPS)
@pytest.mark.parametrize("strategy", [*SEVERAL, *ALONE])
def test_every_synchronous_strategy_can_be_compiled(strategy: str, loop: str) -> None:
    assert plan(strategy=strategy, loop=loop).config.xla


@pytest.mark.parametrize("strategy", ["central_storage", "parameter_server", "tpu"])
def test_strategies_without_xla_refuse_it_with_the_reason(strategy: str) -> None:
    found = problem(strategy=strategy)
    why = catalog.STRATEGIES[strategy].uncompiled
    assert found.rule == f"off with the strategy {strategy}, {why}"
    assert found.fix == "Leave it off, or choose another strategy."


def test_without_graphs_there_is_nothing_to_compile() -> None:
    assert problem(eager=True).rule == "off with eager, which runs without graphs"


@pytest.mark.parametrize("field", WAITS)
@pytest.mark.parametrize("strategy", SEVERAL)
def test_a_step_that_waits_for_other_replicas_is_refused(strategy: str, field: str) -> None:
    found = problem(strategy=strategy, model=MODEL, **{field: WAITS[field]})
    assert found.rule.startswith(f"off with {'a train step' if field == 'step' else field}")
    assert "XLA cannot compile code that waits for other replicas" in found.rule
    assert found.fix.startswith("Turn xla off")


@pytest.mark.parametrize("field", WAITS)
@pytest.mark.parametrize("strategy", ALONE)
def test_the_same_step_of_one_replica_is_compiled(strategy: str, field: str) -> None:
    assert plan(strategy=strategy, **{field: WAITS[field]}).config.xla


@pytest.mark.parametrize("field", SUMS)
@pytest.mark.parametrize("strategy", ALONE)
def test_such_a_step_of_an_own_model_is_refused_with_one_replica_too(
    strategy: str, field: str
) -> None:
    found = problem(strategy=strategy, model=MODEL, **{field: WAITS[field]})
    assert found.rule.startswith(f"off with {field}")


@pytest.mark.parametrize("field", SUMS)
@pytest.mark.parametrize("strategy", SEVERAL)
def test_the_forward_pass_of_a_built_in_model_never_waits(strategy: str, field: str) -> None:
    workers = strategy == "multi_worker_mirrored" and field == "last_batch"  # needs equal batches
    value = "repeat" if workers else WAITS[field]
    assert plan(strategy=strategy, **{field: value}).config.xla


def test_fit_with_a_short_last_batch_is_refused_too() -> None:
    kept = {"loop": "fit", "last_batch": "keep"}
    assert problem(**kept, model=MODEL).rule.startswith("off with last_batch keep")
    assert plan(**kept).config.xla


def test_a_mac_has_no_xla_on_its_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert problem(TWO_GPUS).fix == "Turn xla off, or choose the device CPU:0."
    assert plan(TWO_GPUS, devices=("CPU:0",)).config.xla
