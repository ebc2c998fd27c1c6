"""The form with each strategy: visible fields, kept values, notes before a start."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.machines import FOUR_GPUS, LAPTOP
from workbench import RunConfig, catalog
from workbench.fields import FIELDS, OF_LAUNCHERS
from workbench.widgets.form.form import Form

OF_STRATEGY = {
    "default": set[str](),
    "one_device": set[str](),
    "mirrored": {"replicas", "cross_device_ops"},
    "central_storage": {"replicas"},
    "multi_worker_mirrored": {"workers", "communication", "bytes_per_pack", "auto_shard",
                              "rendezvous_seconds"},
    "parameter_server": {"workers", "parameter_servers", "evaluator", "rendezvous_seconds"},
    "tpu": {"tpu"},
}  # fmt: skip
SOME_ONLY = set().union(*OF_STRATEGY.values())


@pytest.fixture
def form() -> Form:
    return Form(catalog.PRESETS["mlp_synthetic"].config, LAPTOP)


def field(form: Form, name: str) -> Any:
    every = (*form.parts.all, *form.parts.batch.fields)
    return next(field for field in every if field.name == name)


def set_to(form: Form, **values: Any) -> None:
    for name, value in values.items():
        field(form, name).control.value = value


def in_sight(form: Form) -> set[str]:
    return {field.name for field in form.parts.all if field.box.layout.display is None}


def problem_beside(form: Form, name: str) -> str:
    return field(form, name).problems


@pytest.mark.parametrize("strategy", catalog.STRATEGIES)
def test_only_fields_that_matter_are_visible(form: Form, strategy: str) -> None:
    set_to(form, strategy=strategy)
    assert in_sight(form) & SOME_ONLY == OF_STRATEGY[strategy]


@pytest.mark.parametrize("strategy", sorted(set(catalog.STRATEGIES) - {"tpu"}))
def test_each_strategy_is_ready_to_train(form: Form, strategy: str) -> None:
    set_to(form, strategy=strategy)
    assert form.state.problems == ()
    assert form.state.plan is not None


def test_values_typed_for_a_strategy_return_when_it_is_chosen_again(form: Form) -> None:
    set_to(form, replicas="4", clip_norm="1", eager=True)
    for strategy in ("parameter_server", "multi_worker_mirrored", "one_device", "default"):
        set_to(form, strategy=strategy)
        assert form.state.problems == (), strategy
    set_to(form, strategy="multi_worker_mirrored", workers="3")
    set_to(form, strategy="mirrored")
    asked = form.state.config
    assert (asked.replicas, asked.clip_norm, asked.eager, asked.workers) == (4, 1.0, True, None)
    set_to(form, strategy="parameter_server")
    assert form.state.config.workers == 3


def test_values_typed_before_another_config_was_shown_do_not_return(form: Form) -> None:
    set_to(form, strategy="multi_worker_mirrored", workers="3")
    set_to(form, strategy="mirrored")
    form.write(RunConfig())
    set_to(form, strategy="multi_worker_mirrored")
    assert form.state.config.workers is None


@pytest.mark.parametrize("launcher", catalog.LAUNCHERS)
def test_only_the_fields_of_the_launcher_are_visible(form: Form, launcher: str) -> None:
    set_to(form, launcher=launcher)
    used = {name for name in OF_LAUNCHERS if launcher in FIELDS[name].launchers}
    assert in_sight(form) & set(OF_LAUNCHERS) == used


def test_values_typed_for_a_launcher_return_when_it_is_chosen_again(form: Form) -> None:
    set_to(form, strategy="multi_worker_mirrored", launcher="slurm", partition="gpu")
    set_to(form, launcher="ray")
    assert field(form, "partition").read() is None
    set_to(form, launcher="slurm")
    assert field(form, "partition").read() == "gpu"


def test_xla_is_visible_if_it_can_be_used(form: Form) -> None:
    for strategy in catalog.STRATEGIES:
        set_to(form, strategy=strategy)
        assert ("xla" in in_sight(form)) == (not catalog.STRATEGIES[strategy].uncompiled)
    set_to(form, strategy="mirrored", xla=True)
    assert form.state.config.xla
    set_to(form, eager=True)
    assert "off with eager" in problem_beside(form, "xla")


def test_values_for_one_strategy_are_not_sent_with_another(form: Form) -> None:
    typed = {
        "mirrored": {"cross_device_ops": "hierarchical_copy", "learning_rate_scaling": "linear"},
        "multi_worker_mirrored": {
            "communication": "ring", "bytes_per_pack": "4,096", "rendezvous_seconds": "60",
        },
        "tpu": {"tpu": "my-tpu"},
    }  # fmt: skip
    for strategy, values in typed.items():
        set_to(form, strategy=strategy)
        set_to(form, **values)
    for strategy in ("parameter_server", "default", "central_storage", "one_device"):
        set_to(form, strategy=strategy)
        assert form.state.problems == (), strategy
    for strategy, values in typed.items():
        set_to(form, strategy=strategy)
        for name, value in values.items():
            assert field(form, name).control.value == value


def test_a_value_that_the_strategy_does_not_take_is_shown_with_its_problem() -> None:
    form = Form(RunConfig(strategy="mirrored", workers=3), LAPTOP)
    assert "workers" in in_sight(form)
    assert "must be empty" in problem_beside(form, "workers")


def test_workers_that_are_not_synchronous_have_no_global_batch(form: Form) -> None:
    batch = form.parts.batch
    set_to(form, strategy="parameter_server")
    assert batch.fields[1].box.layout.display == "none"
    assert "there is no global batch" in batch._times.value
    assert "= 64 per step" not in batch._sum.value
    assert "64 examples per worker step" in batch._sum.value
    set_to(form, per_replica_batch_size="32")
    assert form.state.plan is not None
    assert form.state.plan.per_replica_batch_size == 32
    set_to(form, per_replica_batch_size="many")
    assert "whole number" in problem_beside(form, "per_replica_batch_size")


def test_a_global_batch_is_kept_and_returns(form: Form) -> None:
    set_to(form, global_batch_size="100", strategy="parameter_server")
    assert form.state.problems == ()
    assert form.state.config.global_batch_size is None
    assert form.state.config.per_replica_batch_size == 50
    set_to(form, strategy="mirrored")
    assert form.state.config.global_batch_size == 100
    assert field(form, "per_replica_batch_size").control.value == "50"


def test_a_size_typed_without_a_global_batch_leads_afterwards(form: Form) -> None:
    set_to(form, global_batch_size="100", strategy="parameter_server", per_replica_batch_size="8")
    set_to(form, strategy="mirrored")
    assert form.state.config.per_replica_batch_size == 8
    assert field(form, "global_batch_size").control.value == "16"


def test_a_global_batch_that_the_strategy_does_not_take_is_visible() -> None:
    form = Form(RunConfig(strategy="parameter_server", global_batch_size=128), LAPTOP)
    batch = form.parts.batch.fields[1]
    assert batch.box.layout.display is None
    assert "workers train asynchronously" in problem_beside(form, "global_batch_size")
    set_to(form, global_batch_size="")
    assert form.state.problems == ()
    assert batch.box.layout.display == "none"


@pytest.mark.parametrize("strategy", catalog.STRATEGIES)
def test_servers_without_access_control_are_noted_before_a_start(form: Form, strategy: str) -> None:
    set_to(form, strategy=strategy)
    notice = form.parts.strategy._warning.value
    assert ("every network interface" in notice) == catalog.STRATEGIES[strategy].workers


def test_a_missing_tpu_is_shown_and_a_tpu_elsewhere_can_be_named(form: Form) -> None:
    def labels() -> list[str]:
        return [label for label, _ in form.parts.strategy.control.options]

    assert "TPU (no TPU here)" in labels()
    set_to(form, strategy="tpu")
    assert "no TPU here" in problem_beside(form, "strategy")
    set_to(form, tpu="my-tpu")
    assert "TPU" in labels()
    assert problem_beside(form, "strategy") == ""
    assert "replicas" in in_sight(form)
    assert "my-tpu" in problem_beside(form, "replicas")
    set_to(form, replicas="8")
    assert form.state.problems == ()
    assert form.state.plan is not None
    assert form.state.plan.num_replicas_in_sync == 8
    assert form.state.config.strategy == "tpu"


def test_a_tpu_found_by_a_newer_inspection_is_no_longer_shown_as_missing(form: Form) -> None:
    set_to(form, strategy="tpu")
    form.use_devices(replace(LAPTOP, tpu_chips=4, tpu_kind="v3"))
    assert form.state.plan is not None
    assert form.state.config.strategy == "tpu"
    assert "TPU" in [label for label, _ in form.parts.strategy.control.options]


def test_the_help_of_an_epoch_per_call_names_its_costs(form: Form) -> None:
    set_to(form, steps_per_call="epoch")
    assert "stop only at the end of the epoch" in field(form, "steps_per_call")._help.value
    assert form.state.config.steps_per_call == "epoch"
    set_to(form, steps_per_call="number")
    assert form.state.config.steps_per_call == 1


def test_workers_share_gpus_only_evenly() -> None:
    form = Form(RunConfig(strategy="multi_worker_mirrored", workers=3), FOUR_GPUS)
    assert "divides the 4 GPUs" in problem_beside(form, "workers")
