"""The files of the engine that fill the slots of a plan's script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import catalog
from ..plan.launching import is_local
from ..plan.plan import DATASET
from ..plan.sharding import read_per_step
from .carried import reads_folder

if TYPE_CHECKING:
    from ..plan import Plan


def _reads_dataset(plan: Plan) -> bool:
    return plan.data_facts is not None and plan.data_facts.kind == DATASET


def files(plan: Plan) -> dict[str, str]:
    """Return the file of each slot, in the order of the slots; without the user's functions."""
    return {
        **_strategy(plan),
        "data": _data(plan),
        **_pipeline(plan),
        **_xla(plan),
        **_model(plan),
        **(_together(plan) if plan.synchronous else _led(plan)),
    }


def _together(plan: Plan) -> dict[str, str]:
    several, fit = len(plan.tasks) > 1, plan.loop == "fit"
    own = "_own" * (plan.own_model is not None)
    slots = {"compile": f"lesson/compile{own}"} if fit else {}
    # Before training, the `fit` of Keras 3 takes a batch and sums it, even if it is text.
    if fit and not several and plan.pipeline == "usual" and plan.own_data is None:
        return {**slots, "main": "mains/fit"}
    if several:
        slots["worker"] = "lesson/worker"
    if not fit:
        of = "own_model" if own else "built_in"
        slots["steps"] = f"steps/{of}{_kind_of_steps(plan)}"
    slots["loops"] = "loops/stacked" if plan.pipeline == "indexed" else "loops/usual"
    if fit:
        slots["functions"] = "lesson/train_functions"
    main = "fit_loops" if fit else f"custom{own}"
    return {**slots, "main": f"mains/{main}{'_workers' * several}"}


def _kind_of_steps(plan: Plan) -> str:
    if plan.own_step is not None:
        return "_step"
    return "_general" if plan.last_batch == "keep" or plan.config.clip_norm is not None else ""


def _led(plan: Plan) -> dict[str, str]:
    own, fit = "_own" * (plan.own_model is not None), plan.loop == "fit"
    slots = {"tester": f"lesson/tester{own}"}
    if plan.config.evaluator:
        slots["evaluator"] = "lesson/evaluator"
    if fit:
        return {**slots, "compile": f"lesson/compile_led{own}", "main": "mains/coordinator_fit"}
    of = "own_step" if plan.own_step is not None else "own_model" if own else "built_in"
    slots |= {"steps": f"steps/{of}_worker", "loops": "loops/scheduled"}
    return {**slots, "main": "mains/coordinator_custom"}


def _strategy(plan: Plan) -> dict[str, str]:
    source = catalog.STRATEGIES[plan.strategy].source
    task = {} if plan.synchronous else {"task": "lesson/task"}
    if plan.on_tpu:
        return {"strategy": f"strategies/{source}"}
    device = "cpu" if plan.physical_devices[0].startswith("CPU") else "gpu"
    if plan.virtual and device == "gpu":
        return {"strategy": f"strategies/virtual_gpu/{source}"}
    on_hosts = len(plan.tasks) > 1 and not is_local(plan.config)
    if on_hosts and (plan.synchronous or device == "gpu"):
        device = f"hosts_{device}"  # no other task uses these devices
    gpus = {"gpus": "strategies/gpus"} if device.endswith("gpu") else {}
    return {**task, **gpus, "strategy": f"strategies/{device}/{source}"}


def _data(plan: Plan) -> str:
    if plan.data_facts is None:
        folder = "_folder" if reads_folder(plan) else ""
        return f"data/{catalog.DATA[plan.data].source}{folder}"
    return f"data/own_{plan.data_facts.kind}"


def _pipeline(plan: Plan) -> dict[str, str]:
    order = {"order": f"orders/{plan.last_batch}"}
    tests = {"tests": "pipelines/tests"}
    if _reads_dataset(plan):
        each_its_own = {"pipeline": "pipelines/dataset_per_worker"}
        pipeline = "cached" if plan.pipeline == "cached" else "dataset"
        shared = {"tests": "pipelines/dataset_tests", "pipeline": f"pipelines/{pipeline}"}
        return shared if plan.synchronous else each_its_own
    if not plan.synchronous:
        return {**order, "pipeline": "pipelines/per_worker"}
    if plan.pipeline in ("files", "numpy"):
        written = {"written": "pipelines/written_files"} if plan.pipeline == "files" else {}
        return {**tests, **written, "pipeline": f"pipelines/{plan.pipeline}"}
    if plan.pipeline == "indexed":
        return {**order, **tests, "pipeline": "pipelines/indexed"}
    alone = len(plan.tasks) == 1 and not plan.on_tpu
    if alone or read_per_step(plan) == plan.global_batch_size:
        return {**order, "pipeline": f"pipelines/{'usual' if alone else 'sharded'}"}
    return {**order, **tests, "pipeline": "pipelines/usual_workers"}


def _xla(plan: Plan) -> dict[str, str]:
    """Return the function that makes XLA compile what the model computes."""
    if plan.own_model is None:
        return {"xla": "lesson/xla"} if plan.config.xla else {}
    return {"xla": "lesson/xla_own"} if plan.config.xla and plan.own_step is None else {}


def _model(plan: Plan) -> dict[str, str]:
    own = {"step": "steps/own"} if plan.own_step is not None else {}
    if plan.own_model is not None:
        return {"model": "models/own", **own}
    return {"model": f"models/{catalog.MODELS[plan.model].source}", **own}
