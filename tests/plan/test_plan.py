"""A plan: its numbers, its tasks, and its plan.json."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from tests.machines import LAPTOP, TWO_GPUS
from workbench.config import RunConfig
from workbench.plan import Plan, make_plan
from workbench.plan.plan import DataFacts, OwnFunction

LED = ("chief-0", "worker-0", "worker-1", "ps-0", "evaluator-0")


def plan(**fields: Any) -> Plan:
    return make_plan(RunConfig(**fields), LAPTOP)


def test_a_plan_in_json_holds_plain_values_and_the_config() -> None:
    made = make_plan(RunConfig(name="a run", data="fashion_mnist"), TWO_GPUS)
    values = json.loads(json.dumps(made.to_json()))
    assert RunConfig.from_json(values["config"]) == made.config
    assert values["physical_devices"] == ["GPU:0", "GPU:1"]
    assert values["local_replicas"] == values["num_replicas_in_sync"] == 2
    assert values["strategy_label"] == "Mirrored"


@pytest.mark.parametrize(
    "made",
    [
        plan(),
        plan(strategy="parameter_server", loop="fit", evaluator=True),
        replace(
            plan(),
            own_model=OwnFunction("build", "mine", "def build(): ...", "/a folder"),
            data_facts=DataFacts("arrays", 100, 10, "(10,) float32", 40),
        ),
    ],
    ids=lambda made: made.strategy,
)
def test_a_plan_is_read_as_it_was_written(made: Plan) -> None:
    assert Plan.from_json(json.loads(json.dumps(made.to_json()))) == made


def test_a_field_of_a_later_release_is_ignored() -> None:
    assert Plan.from_json({**plan().to_json(), "a_field_of_later": 1}) == plan()


def test_a_plan_of_an_earlier_release_has_what_it_implied() -> None:
    values = plan(strategy="one_device").to_json()
    later = ("tasks", "local_replicas", "auto_shard", "keras", "optimizer", "own_step")
    read = Plan.from_json({name: value for name, value in values.items() if name not in later})
    assert (read.tasks, read.local_replicas, read.keras) == (("worker-0",), 1, "installed")


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"epochs": "three"}, "has 'three' as epochs, instead of a whole number. Open the run"),
        ({"epochs": -1}, "has -1 as epochs, instead of a whole number from 0"),
        ({"model": {}}, "has {} as model, instead of text"),
        ({"physical_devices": []}, "has no physical_devices, instead of one such as CPU:0"),
        ({"steps_per_epoch": 0}, "has 0 as steps_per_epoch, instead of a whole number from 1"),
        ({"total_steps": True}, "has True as total_steps"),
        ({"tasks": 7}, "has 7 as tasks, instead of a list of names"),
        ({"tasks": []}, "has [] as tasks"),
        ({"tasks": ["../worker-0"]}, "has ['../worker-0'] as tasks"),
        ({"own_model": {"a_field_of_later": 1}}, "lacks fields of own_model: function, module"),
        ({"data_facts": "text"}, "has 'text' as data_facts, instead of an object"),
        ({"config": {"version": 99}}, "does not fit this release: version must be 1"),
    ],
)
def test_a_damaged_plan_is_refused_with_the_value(values: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)):
        Plan.from_json({**plan().to_json(), **values})


def test_missing_fields_are_named() -> None:
    values = plan().to_json()
    del values["data"], values["loop"]
    with pytest.raises(ValueError, match="lacks fields of a plan: loop, data"):
        Plan.from_json(values)


def test_the_first_task_leads_and_only_workers_step() -> None:
    led = replace(plan(), tasks=LED)
    assert (led.leader, led.worker_tasks, led.workers) == ("chief-0", LED[1:3], 2)
    assert (led.synchronous, led.evaluator) == (False, True)
    assert (plan().leader, plan().synchronous, plan().evaluator) == ("worker-0", True, False)


def test_only_workers_and_evaluator_of_a_chief_restart_alone() -> None:
    led, synchronous = replace(plan(), tasks=LED), replace(plan(), tasks=LED[1:3])
    assert [task for task in LED if led.restarts_alone(task)] == [*LED[1:3], LED[4]]
    assert not any(map(synchronous.restarts_alone, synchronous.tasks))


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"strategy": "mirrored", "replicas": 3}, "Mirrored x 3"),
        ({"strategy": "central_storage", "replicas": 4}, "CentralStorage x 4"),
        ({"strategy": "one_device"}, "OneDevice"),
        ({"strategy": "default"}, "Default"),
        ({"strategy": "multi_worker_mirrored", "workers": 2}, "MultiWorkerMirrored x 2"),
        ({"strategy": "parameter_server", "workers": 1}, "ParameterServer x 1"),
    ],
)
def test_each_strategy_counts_its_replicas_or_workers(fields: dict[str, Any], text: str) -> None:
    assert plan(**fields).in_short == text


def test_a_strategy_of_a_later_release_is_called_as_it_was() -> None:
    later = replace(plan(), strategy="of_later", strategy_label="OfLater")
    assert (later.in_short, later.on_tpu) == ("OfLater", False)


def test_a_pass_has_the_full_batches_of_an_epoch_or_of_the_data() -> None:
    fields = {"num_train_examples": 1_003, "global_batch_size": 64}
    one = replace(plan(), **fields, steps_per_epoch=16)
    assert one.steps_of_a_pass == 15
    assert replace(one, steps_per_epoch=10).steps_of_a_pass == 10
    assert replace(one, steps_per_epoch=100).steps_of_a_pass == 15


@pytest.mark.parametrize(
    ("fields", "steps"),
    [
        ({"steps_per_call": 7}, 7),
        ({"steps_per_call": "epoch"}, 78),
        ({"steps_per_call": "epoch", "strategy": "parameter_server"}, 78),
        ({"strategy": "parameter_server"}, 20),
        ({"strategy": "parameter_server", "steps_per_epoch": 6}, 3),
        ({"steps_per_call": 1}, 1),
        ({"eager": True}, 1),
        ({"eager": True, "steps_per_call": 5}, 1),
    ],
)
def test_a_call_has_as_many_steps_as_configured_or_by_estimate(
    fields: dict[str, Any], steps: int
) -> None:
    assert plan(**fields).graph_steps == steps


@pytest.mark.parametrize("examples", [10_000, 16_000, 60_000, 101 * 128])
@pytest.mark.parametrize("pipeline", ["usual", "indexed"])
def test_a_call_of_fit_divides_the_epoch_and_takes_whole_stacks(
    pipeline: str, examples: int
) -> None:
    made = plan(loop="fit", pipeline=pipeline, synthetic_examples=examples)
    assert made.steps_per_epoch % made.graph_steps == 0
    whole = made.graph_steps % made.steps_per_stack == 0
    assert whole or made.graph_steps == made.steps_per_epoch
