"""Puts the lifted functions into the script's slots."""

from __future__ import annotations

from textwrap import indent
from typing import TYPE_CHECKING

from .. import catalog
from ..plan.names import ENGINE
from ..plan.own_model import DOOR, OwnModel
from .constants import constants, literal
from .lifting import Lifted, lift, merge_imports

if TYPE_CHECKING:
    from ..plan import Plan

MARKER = """\
# ---- Recorder: the same in every script. It records, saves, stops and resumes. ----
# ruff: noqa: E402, F811"""
COORDINATOR = "# ---- Recorder of workers that do not step together. ----"
LEGACY = "Keras 3 takes no DatasetCreator: tensorflow#55668"
COORDINATED = "chief=main, worker=serve, ps=serve, evaluator=evaluate_checkpoints"
ENTRY = 'if __name__ == "__main__":'
ALONE = 'os.environ.pop("TF_CONFIG", None)  # it names other tasks; here is one'


def render_script(plan: Plan) -> str:
    """Return the text that runs and is exported; the same plan gives the same bytes."""
    title, imports, numbers, bodies, recorder = sections(plan)
    return (
        "\n\n".join([title, *prelude(plan), imports, numbers])
        + "\n\n\n"
        + "\n\n\n".join([*bodies, f"{MARKER}\n{recorder}", _entry(plan)])
        + "\n"
    )


def prelude(plan: Plan) -> list[str]:
    """Return what a script does before it imports TensorFlow."""
    if plan.keras != "legacy":
        return []
    return [f'import os\n\nos.environ["TF_USE_LEGACY_KERAS"] = "1"  # {LEGACY}']


def call(plan: Plan) -> str:
    """Return the statements that a script ends with."""
    if len(plan.tasks) == 1:
        return f"{ALONE}\nmain()"
    return "run_task(worker=main)" if plan.together else f"run_task({COORDINATED})"


def _entry(plan: Plan) -> str:
    return f"{ENTRY}\n{indent(call(plan), ' ' * 4)}"


def sections(plan: Plan) -> tuple[str, str, str, list[str], str]:
    """Return title, imports, constants, the bodies of the slots, and the recorder."""
    recorders = [_lift_engine(name) for name in _recorders(plan)]
    slots = {slot: _lift_engine(file) for slot, file in _files(plan).items()}
    if plan.own_model is not None:
        slots["model"] = _own_model(plan.own_model)
    ours = [part for slot, part in slots.items() if slot != "model" or plan.own_model is None]
    used = frozenset().union(*(part.uses for part in [*ours, *recorders]))
    title = f'"""{_title(plan)}"""'
    bodies = [part.body for part in slots.values()]
    imports = merge_imports(slots.values())
    texts = [f"{merge_imports([part])}\n\n\n{part.body}" for part in recorders]
    below = f"\n\n\n{COORDINATOR}\n".join(texts)
    return title, imports, constants(plan, used), bodies, below


def _recorders(plan: Plan) -> tuple[str, ...]:
    return ("recorder",) if plan.together else ("recorder", "coordinator")


def _files(plan: Plan) -> dict[str, str]:
    data = catalog.DATA[plan.data]
    model = plan.model if plan.own_model is None else "mlp"
    return {
        **_strategy_files(plan),
        "data": f"data/{data.source}",
        **_pipeline_files(plan),
        "model": f"models/{catalog.MODELS[model].source}",
        "optimizer": f"optimizers/{plan.config.optimizer}",
        "steps": f"steps/{_steps(plan)}",
        "loops": f"loops/{_loops(plan)}",
        "main": f"mains/{'' if plan.together else 'coordinator_'}{catalog.LOOPS[plan.loop].source}",
        **_task_files(plan),
    }


def _loops(plan: Plan) -> str:
    if not plan.together:
        return "scheduled"
    return "stacked" if plan.pipeline == "indexed" else "usual"


def _task_files(plan: Plan) -> dict[str, str]:
    if len(plan.tasks) == 1:
        return {}
    if plan.together:
        return {"task": "tasks/task"}
    return {"evaluator": "tasks/evaluator", "server": "tasks/server", "task": "tasks/task"}


def _strategy_files(plan: Plan) -> dict[str, str]:
    source = f"strategies/{catalog.STRATEGIES[plan.strategy].source}"
    if plan.on_tpu:
        return {"strategy": source}
    if plan.physical_devices[0].startswith("CPU"):
        return {"strategy": f"{source}_cpu"}
    if plan.virtual:
        return {"strategy": f"{source}_virtual_gpu"}
    return {"gpus": "strategies/gpus", "strategy": f"{source}_gpu"}


def _pipeline_files(plan: Plan) -> dict[str, str]:
    order = {"order": f"orders/{plan.last_batch}"}
    tests = {"tests": "pipelines/tests"}
    if not plan.together:
        return {**order, "pipeline": "pipelines/per_worker"}
    if plan.pipeline in ("files", "numpy"):
        return {**tests, "pipeline": f"pipelines/{plan.pipeline}"}
    if plan.pipeline == "indexed":
        return {**order, **tests, "pipeline": "pipelines/indexed"}
    if len(plan.tasks) == 1 and not plan.on_tpu:
        return {**order, "pipeline": "pipelines/usual"}
    return {**order, **tests, "pipeline": "pipelines/usual_workers"}


def _steps(plan: Plan) -> str:
    source = catalog.LOOPS[plan.loop].source
    if not plan.together and plan.loop == "custom":
        return "custom_worker"
    general = plan.last_batch == "keep" or plan.config.clip_norm is not None
    return f"{source}_general" if general and plan.loop == "custom" else source


def _lift_engine(name: str) -> Lifted:
    return lift((ENGINE / f"{name}.py").read_text(encoding="utf-8"))


def _own_model(own: OwnModel) -> Lifted:
    if own.source is not None and own.function == DOOR:
        return lift(own.source)
    lifted = Lifted((), "", frozenset()) if own.source is None else lift(own.source)
    found = f"    from {own.module} import {own.function}\n\n" if own.source is None else ""
    made = f"    return check_model({own.function}(), {literal(own.function)})"
    door = f'def {DOOR}() -> tf.keras.Model:\n    """The model of one\'s own."""\n{found}{made}'
    check = _lift_engine("models/own")
    parts = [part for part in (lifted.body, check.body, door) if part]
    return Lifted((*lifted.imports, *check.imports), "\n\n\n".join(parts), lifted.uses)


def _title(plan: Plan) -> str:
    model = catalog.MODELS[plan.model].label if plan.own_model is None else "A model of one's own"
    return (
        f"{model} on {catalog.DATA[plan.data].label}: {plan.strategy_label} strategy, "
        f"{plan.who_trains}, {catalog.LOOPS[plan.loop].label}."
    )
