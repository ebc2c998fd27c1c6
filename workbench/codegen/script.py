"""Puts the lifted functions into the script's slots."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .. import catalog
from ..plan import PlanError, Problem
from .constants import constants
from .lifting import Lifted, lift, merge_imports

if TYPE_CHECKING:
    from ..plan import Plan

ENGINE = Path(__file__).parents[1] / "engine"
MARKER = """\
# ---- Recorder: the same in every script. It records, saves, stops and resumes. ----
# ruff: noqa: E402"""
ENTRY = 'if __name__ == "__main__":\n    main()'


def render_script(plan: Plan) -> str:
    """Return the text that runs and is exported; the same plan gives the same bytes.

    Raises:
        PlanError: one's own functions have names that the script has already.
    """
    title, imports, numbers, bodies, recorder = sections(plan)
    return (
        "\n\n".join([title, imports, numbers])
        + "\n\n\n"
        + "\n\n\n".join([*bodies, f"{MARKER}\n{recorder}", ENTRY])
        + "\n"
    )


def sections(plan: Plan) -> tuple[str, str, str, list[str], str]:
    """Return title, imports, constants, the bodies of the slots, and the recorder."""
    recorder = _lift_engine("recorder")
    slots = {slot: _lift_engine(file) for slot, file in _files(plan).items()}
    if plan.own_model is not None:
        slots["model"] = _own_model(plan, [*slots.values(), recorder])
    parts = [*slots.values(), recorder]
    used = frozenset().union(*(part.uses for part in parts))
    title = f'"""{_title(plan)}"""'
    bodies = [part.body for part in slots.values()]
    above = merge_imports(slots.values())
    below = merge_imports([recorder], without=above)
    return title, above, constants(plan, used), bodies, f"{below}\n\n\n{recorder.body}"


def _files(plan: Plan) -> dict[str, str]:
    data = catalog.DATA[plan.data]
    model = plan.model if plan.own_model is None else "mlp"
    return {
        **_strategy_files(plan),
        "data": f"data/{data.source}",
        "order": f"orders/{plan.last_batch}",
        "pipeline": f"pipelines/{plan.pipeline}",
        "model": f"models/{catalog.MODELS[model].source}",
        "optimizer": f"optimizers/{plan.config.optimizer}",
        "steps": f"steps/{_steps(plan)}",
        "loops": f"loops/{'stacked' if plan.pipeline == 'indexed' else 'usual'}",
        "main": f"mains/{catalog.LOOPS[plan.loop].source}",
    }


def _strategy_files(plan: Plan) -> dict[str, str]:
    source = f"strategies/{catalog.STRATEGIES[plan.strategy].source}"
    if plan.physical_devices[0].startswith("CPU"):
        return {"strategy": f"{source}_cpu"}
    if plan.virtual:
        return {"strategy": f"{source}_virtual_gpu"}
    return {"gpus": "strategies/gpus", "strategy": f"{source}_gpu"}


def _steps(plan: Plan) -> str:
    source = catalog.LOOPS[plan.loop].source
    general = plan.last_batch == "keep" or plan.config.clip_norm is not None
    return f"{source}_general" if general and plan.loop == "custom" else source


def _lift_engine(name: str) -> Lifted:
    return lift((ENGINE / f"{name}.py").read_text(encoding="utf-8"))


def _own_model(plan: Plan, others: list[Lifted]) -> Lifted:
    own = plan.own_model
    assert own is not None
    if own.module is not None:
        call = f"    from {own.module} import {own.function}\n\n    return {own.function}()"
        lifted = Lifted((), "", frozenset(), frozenset())
    else:
        lifted = lift(own.source or "")
        call = f"    return {own.function}()"
    _check_collisions(lifted, others)
    door = f'def make_model() -> tf.keras.Model:\n    """The model of one\'s own."""\n{call}'
    body = f"{lifted.body}\n\n\n{door}".strip()
    return Lifted(lifted.imports, body, lifted.names, lifted.uses)


def _check_collisions(own: Lifted, others: list[Lifted]) -> None:
    taken = frozenset({"make_model"}).union(*(part.names for part in others))
    collisions = sorted(own.names & taken)
    if collisions:
        rule = "names that the script does not have already"
        fix = "Rename them in your file, or give the model as module:function."
        raise PlanError((Problem("model", rule, ", ".join(collisions), fix),))


def _title(plan: Plan) -> str:
    model = catalog.MODELS[plan.model].label if plan.own_model is None else "A model of one's own"
    replicas = f"{plan.num_replicas_in_sync} {'virtual ' * plan.virtual}replica"
    plural = "s" * (plan.num_replicas_in_sync > 1)
    return (
        f"{model} on {catalog.DATA[plan.data].label}: {plan.strategy_label} strategy, "
        f"{replicas}{plural}, {catalog.LOOPS[plan.loop].label}."
    )
