"""The functions of the engine that fill the slots of a plan's script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import catalog
from ..plan.launching import is_local
from ..plan.plan import ARRAYS, DATASET
from ..plan.sharding import read_per_step
from .carried import reads_folder

if TYPE_CHECKING:
    from ..plan import Plan


def addresses(plan: Plan) -> dict[str, str]:
    """Return the function of each slot as `file.function`, in the order of the slots.

    The user's own functions are left out.
    """
    return {
        **_strategy(plan),
        **_data(plan),
        **_pipeline(plan),
        **_xla(plan),
        **_model(plan),
        **(_together(plan) if plan.synchronous else _led(plan)),
    }


def _together(plan: Plan) -> dict[str, str]:
    several, fit = len(plan.tasks) > 1, plan.loop == "fit"
    own = plan.own_model is not None
    kind = "own" if own else "built_in"
    slots = {"compile": f"compiling.compile_model__{kind}"} if fit else {}
    # Before training, the `fit` of Keras 3 takes a batch and sums it, even if it is text.
    if fit and not several and plan.pipeline == "usual" and plan.own_data is None:
        return {**slots, "main": "fit.main__alone"}
    if several:
        slots["worker"] = "strategies.this_worker"
    if not fit:
        of = "own_model" if own else "built_in"
        slots["steps"] = f"steps.make_steps__{of}{_kind_of_steps(plan)}"
    slots["loops"] = f"loops.make_loops__{'stacked' if plan.pipeline == 'indexed' else 'usual'}"
    if fit:
        slots["functions"] = "loops.make_train_functions"
        return {**slots, "main": f"fit.main__loops{'_workers' * several}"}
    who = f"{'own_' * own}{'workers' if several else 'alone'}"
    return {**slots, "main": f"custom.main__{who}"}


def _kind_of_steps(plan: Plan) -> str:
    if plan.own_step is not None:
        return "_own_step"
    return "_general" if plan.last_batch == "keep" or plan.config.clip_norm is not None else ""


def _led(plan: Plan) -> dict[str, str]:
    own = plan.own_model is not None
    slots = {"tester": f"compiling.make_tester__{'own' if own else 'built_in'}"}
    if plan.config.evaluator:
        slots["evaluator"] = "coordinator.evaluate_checkpoints"
    if plan.loop == "fit":
        compiled = f"compiling.compile_model__led{'_own' * own}"
        return {**slots, "compile": compiled, "main": "coordinator.main__fit"}
    of = "own_step" if plan.own_step is not None else "own_model" if own else "built_in"
    slots |= {"steps": f"steps.make_step__{of}", "loops": "loops.make_loop"}
    return {**slots, "main": "coordinator.main__custom"}


def _strategy(plan: Plan) -> dict[str, str]:
    source = catalog.STRATEGIES[plan.strategy].source
    device = "cpu" if plan.physical_devices[0].startswith("CPU") else "gpu"
    if plan.on_tpu:
        kind = ""
    elif plan.virtual and device == "gpu":
        kind = "_virtual_gpu"
    else:
        on_hosts = len(plan.tasks) > 1 and not is_local(plan.config)
        alone = on_hosts and device == "gpu"  # no other task uses the devices
        kind = f"{'_hosts' * alone}_{device}"
    return {"strategy": f"strategies.make_strategy__{source}{kind}"}


def _data(plan: Plan) -> dict[str, str]:
    facts = plan.data_facts
    if facts is None:
        folder = "_folder" if reads_folder(plan) else ""
        return {"data": f"data.make_data__{catalog.DATA[plan.data].source}{folder}"}
    parts = "" if facts.test_examples else "_of_one_part"
    apart = {"examples": f"data.as_examples__{facts.given}"} if facts.given else {}
    return {**apart, "data": f"data.check_data__{facts.kind}{parts}"}


def _pipeline(plan: Plan) -> dict[str, str]:
    of_dataset = plan.data_facts is not None and plan.data_facts.kind == DATASET
    order = {"order": f"orders.shuffled_rows__{plan.last_batch}"}
    tests = {"tests": f"orders.deal_tests__{DATASET if of_dataset else ARRAYS}"}
    if of_dataset and not plan.synchronous:
        needs, name = dict[str, str](), "dataset_per_worker"
    elif of_dataset:
        needs, name = tests, "cached" if plan.pipeline == "cached" else "dataset"
    elif not plan.synchronous:
        needs, name = order, "per_worker"
    elif plan.pipeline in ("files", "numpy"):
        needs, name = tests, plan.pipeline
    elif plan.pipeline == "indexed":
        needs, name = {**order, **tests}, "indexed"
    elif len(plan.tasks) == 1 and not plan.on_tpu:
        needs, name = order, "usual"
    elif read_per_step(plan) == plan.global_batch_size:
        needs, name = order, "sharded"
    else:
        needs, name = {**order, **tests}, "usual_workers"
    return {**needs, "pipeline": f"pipelines.make_batches__{name}"}


def _xla(plan: Plan) -> dict[str, str]:
    """Return the function that makes XLA compile what the model computes."""
    if not plan.config.xla or (plan.own_model and plan.own_step):
        return {}
    return {"xla": f"compiling.compile_by_xla__{'own' if plan.own_model else 'built_in'}"}


def _model(plan: Plan) -> dict[str, str]:
    own = {"step": "steps.check_step"} if plan.own_step is not None else {}
    if plan.own_model is not None:
        return {"model": "models.prepare_model", **own}
    return {"model": f"models.make_model__{catalog.MODELS[plan.model].source}", **own}
