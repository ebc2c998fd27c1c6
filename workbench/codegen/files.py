"""The files of the engine that fill the slots of a plan's script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import catalog
from ..plan.launching import is_local
from ..plan.own_data import DATASET
from .carried import reads_folder

if TYPE_CHECKING:
    from ..plan import Plan


def is_lesson(plan: Plan) -> bool:
    """Return whether a plan's script is plain TensorFlow, which an observer records."""
    own = plan.own_model or plan.own_data or plan.own_step
    return plan.synchronous and own is None


def files(plan: Plan) -> dict[str, str]:
    """Return the file of each slot, in the order of the slots; without the user's functions."""
    lesson = is_lesson(plan)
    return {
        **_strategy(plan),
        "data": _data(plan),
        **_pipeline(plan),
        **({"xla": "lesson/xla"} if lesson and plan.config.xla else {}),
        **_optimizer(plan),
        **_model(plan),
        **(_lesson(plan) if lesson else _with_recorder(plan)),
    }


def _lesson(plan: Plan) -> dict[str, str]:
    several, loop = len(plan.tasks) > 1, {"fit": "fit_loops"}.get(plan.loop, plan.loop)
    slots = {"metrics": "lesson/metrics"}
    if plan.loop == "fit" and not several and plan.pipeline == "usual":
        return {**slots, "main": "lesson/fit"}
    if several:
        slots["worker"] = "lesson/worker"
    if plan.loop == "custom":
        slots["steps"] = f"lesson/steps{_general(plan)}"
    slots["loops"] = f"lesson/loops{'_stacked' * (plan.pipeline == 'indexed')}"
    if plan.loop == "fit":
        slots["functions"] = "lesson/train_functions"
    return {**slots, "main": f"lesson/{loop}{'_workers' * several}"}


def _with_recorder(plan: Plan) -> dict[str, str]:
    source = catalog.LOOPS[plan.loop].source
    main = f"mains/{source}" if plan.synchronous else f"mains/coordinator_{source}"
    return {
        **_xla(plan),
        **_steps(plan),
        "loops": f"loops/{_loops(plan)}",
        "main": main,
        **_tasks(plan),
    }


def _strategy(plan: Plan) -> dict[str, str]:
    source = catalog.STRATEGIES[plan.strategy].source
    if plan.on_tpu:
        return {"strategy": f"strategies/{source}"}
    device = "cpu" if plan.physical_devices[0].startswith("CPU") else "gpu"
    if plan.virtual and device == "gpu":
        return {"strategy": f"strategies/virtual_gpu/{source}"}
    on_hosts = len(plan.tasks) > 1 and not is_local(plan.config)
    if on_hosts and (plan.synchronous or device == "gpu"):
        device = f"hosts_{device}"  # no other task uses these devices
    gpus = {"gpus": "strategies/gpus"} if device.endswith("gpu") else {}
    return {**gpus, "strategy": f"strategies/{device}/{source}"}


def _data(plan: Plan) -> str:
    if plan.data_facts is None:
        folder = "_folder" if reads_folder(plan) else ""
        return f"data/{catalog.DATA[plan.data].source}{folder}"
    return f"data/own_{plan.data_facts.kind}"


def _pipeline(plan: Plan) -> dict[str, str]:
    order = {"order": f"orders/{plan.last_batch}"}
    tests = {"tests": "pipelines/tests"}
    if plan.data_facts is not None and plan.data_facts.kind == DATASET:
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
    if alone or (is_lesson(plan) and plan.read_per_step == plan.global_batch_size):
        return {**order, "pipeline": f"pipelines/{'usual' if alone else 'sharded'}"}
    return {**order, **tests, "pipeline": "pipelines/usual_workers"}


def _optimizer(plan: Plan) -> dict[str, str]:
    if plan.optimizer == catalog.COMPILED:
        return {}
    return {"optimizer": f"optimizers/{plan.optimizer}"}


def _model(plan: Plan) -> dict[str, str]:
    if plan.own_model is None:
        return {"model": f"models/{catalog.MODELS[plan.model].source}"}
    return {"model": "models/own", "labels": "models/labels"}


def _xla(plan: Plan) -> dict[str, str]:
    if not plan.config.xla:
        return {}
    return {"xla": "xla/replica" if plan.own_step is None else "xla/whole"}


def _general(plan: Plan) -> str:
    needed = plan.last_batch == "keep" or plan.config.clip_norm is not None
    return "_general" * needed


def _steps(plan: Plan) -> dict[str, str]:
    source, custom = f"steps/{catalog.LOOPS[plan.loop].source}", plan.loop == "custom"
    if plan.own_step is not None:
        own = {"accuracy": "steps/accuracy", "step": "steps/own"}
        return {**own, "steps": "steps/custom_step"}
    if plan.own_model is not None:
        ending = _general(plan) if plan.synchronous else ""
        own = {"accuracy": "steps/accuracy", "watched": f"steps/watched{ending}"}
        return {**own, "steps": f"{source}_own{ending if custom else ''}"}
    return {"steps": "steps/custom_worker" if custom else source}


def _loops(plan: Plan) -> str:
    if not plan.synchronous:
        return "scheduled"
    return "stacked" if plan.pipeline == "indexed" else "usual"


def _tasks(plan: Plan) -> dict[str, str]:
    if len(plan.tasks) == 1:
        return {}
    if plan.synchronous:
        return {"task": "tasks/task"}
    evaluator = {"evaluator": "tasks/evaluator", "checkpoints": "tasks/new_checkpoints"}
    return {**evaluator, "server": "tasks/server", "task": "tasks/task"}
