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
MARKER = "# ---- Recorder: the same in every script. It records, saves, stops and resumes. ----"
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
    return title, merge_imports(parts), constants(plan, used), bodies, recorder.body


def _files(plan: Plan) -> dict[str, str]:
    data = catalog.DATA[plan.data]
    clipped = "_clipped" if plan.config.clip_norm is not None else ""
    model = plan.model if plan.own_model is None else "mlp"
    return {
        "devices": f"devices/{_devices(plan)}",
        "strategy": f"strategies/{catalog.STRATEGIES[plan.strategy].source}",
        "data": f"data/{data.source}",
        "order": f"orders/{'repeat' if plan.pipeline == 'indexed' else plan.last_batch}",
        "pipeline": f"pipelines/{plan.pipeline}",
        "model": f"models/{catalog.MODELS[model].source}",
        "optimizer": f"optimizers/{plan.config.optimizer}",
        "counting": f"data/{data.counting}",
        "steps": f"steps/{catalog.LOOPS[plan.loop].source}{clipped}",
        "loops": f"loops/{'stacked' if plan.pipeline == 'indexed' else 'usual'}",
        "main": f"mains/{catalog.LOOPS[plan.loop].source}",
    }


def _devices(plan: Plan) -> str:
    if plan.physical_devices[0].startswith("CPU"):
        return "virtual_cpus" if plan.virtual else "cpu"
    return "virtual_gpus" if plan.virtual else "gpus"


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
