"""Puts the lifted functions into the script's slots."""

from __future__ import annotations

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
ENTRY = 'if __name__ == "__main__":\n    {}'


def render_script(plan: Plan) -> str:
    """Return the text that runs and is exported; the same plan gives the same bytes."""
    title, imports, numbers, bodies, recorder = sections(plan)
    return (
        "\n\n".join([title, imports, numbers])
        + "\n\n\n"
        + "\n\n\n".join([*bodies, f"{MARKER}\n{recorder}", ENTRY.format(call(plan))])
        + "\n"
    )


def call(plan: Plan) -> str:
    """Return the statement that a script ends with."""
    return "run_task(main)" if len(plan.tasks) > 1 else "main()"


def sections(plan: Plan) -> tuple[str, str, str, list[str], str]:
    """Return title, imports, constants, the bodies of the slots, and the recorder."""
    recorder = _lift_engine("recorder")
    slots = {slot: _lift_engine(file) for slot, file in _files(plan).items()}
    if plan.own_model is not None:
        slots["model"] = _own_model(plan.own_model)
    ours = [part for slot, part in slots.items() if slot != "model" or plan.own_model is None]
    used = frozenset().union(*(part.uses for part in [*ours, recorder]))
    title = f'"""{_title(plan)}"""'
    bodies = [part.body for part in slots.values()]
    imports, own_imports = merge_imports(slots.values()), merge_imports([recorder])
    return title, imports, constants(plan, used), bodies, f"{own_imports}\n\n\n{recorder.body}"


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
        "loops": f"loops/{'stacked' if plan.pipeline == 'indexed' else 'usual'}",
        "main": f"mains/{catalog.LOOPS[plan.loop].source}",
        **({"task": "tasks/synchronous"} if len(plan.tasks) > 1 else {}),
    }


def _strategy_files(plan: Plan) -> dict[str, str]:
    source = f"strategies/{catalog.STRATEGIES[plan.strategy].source}"
    if plan.physical_devices[0].startswith("CPU"):
        return {"strategy": f"{source}_cpu"}
    if plan.virtual:
        return {"strategy": f"{source}_virtual_gpu"}
    return {"gpus": "strategies/gpus", "strategy": f"{source}_gpu"}


def _pipeline_files(plan: Plan) -> dict[str, str]:
    order = {"order": f"orders/{plan.last_batch}"}
    tests = {"tests": "pipelines/tests"}
    if plan.pipeline == "files":
        return {**tests, "pipeline": "pipelines/files"}
    if plan.pipeline == "indexed":
        return {**order, **tests, "pipeline": "pipelines/indexed"}
    if len(plan.tasks) == 1:
        return {**order, "pipeline": "pipelines/usual"}
    return {**order, **tests, "pipeline": "pipelines/usual_workers"}


def _steps(plan: Plan) -> str:
    source = catalog.LOOPS[plan.loop].source
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
