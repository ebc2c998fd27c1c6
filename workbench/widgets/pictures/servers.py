"""The picture of a plan whose workers do not wait for each other: chief, workers and servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.pictures.drawing import (
    GAP,
    Box,
    arrow,
    band,
    color_of,
    columns,
    filled,
    frame,
    label,
    shard,
    svg,
)
from workbench.widgets.parts import markup

if TYPE_CHECKING:
    from workbench.plan import Plan

MOST = 8
NARROWEST, A_WORKER = 460, 104
CHIEF_HEIGHT, WORKER_HEIGHT, SERVER_HEIGHT, SHARD_HEIGHT, BAND_HEIGHT = 44, 62, 44, 22, 26
HOLDS = "currentColor"


def draw_servers(plan: Plan) -> str:
    """Return SVG with the text colour of the page and a description in words."""
    servers = [task for task in plan.tasks if task.startswith("ps-")]
    workers, held = min(plan.workers, MOST), min(len(servers), MOST)
    across = max(NARROWEST, (A_WORKER + GAP) * max(workers, held))
    row = 1, across - 2
    leaders = [task for task in plan.tasks if task.startswith(("chief-", "evaluator-"))]
    first = columns(len(leaders), *row, 1, CHIEF_HEIGHT)
    given = Box(1, first[0].bottom + 22, across - 2, BAND_HEIGHT)
    second = columns(workers, *row, given.bottom + 22, WORKER_HEIGHT)
    joint = Box(1, second[0].bottom + 26, across - 2, BAND_HEIGHT)
    third = columns(held, *row, joint.bottom + 26, SERVER_HEIGHT)
    parts = [_leader(task, box) for task, box in zip(leaders, first, strict=True)]
    parts.append(arrow(first[0].middle, first[0].bottom + 3, given.y - 3))
    parts.append(band(given, "steps, each given to a worker that is free"))
    for at, box in enumerate(second):
        parts += _worker(plan, at, box)
        parts.append(arrow(box.middle, given.bottom + 3, box.y - 3))
        parts.append(arrow(box.middle, box.bottom + 3, joint.y - 3, both=True))
    parts.append(band(joint, "each reads the weights, then sends its gradients, at its own pace"))
    for at, box in enumerate(third):
        parts.append(filled(box, HOLDS, f"ps {at}", _holds(at, len(servers))))
        parts.append(arrow(box.middle, joint.bottom + 3, box.y - 3, both=True))
    down = third[0].bottom + 22
    text = f"no global batch: in a step, one worker takes {plan.per_replica_batch_size:,} examples"
    parts.append(label(text, GAP, down - 5, faint=True, middle=False))
    drawn = svg(across, down, _account(plan, len(servers)), *parts)
    return drawn + _more(plan.workers - workers, "worker") + _more(len(servers) - held, "server")


def _leader(task: str, box: Box) -> str:
    kind, _, number = task.rpartition("-")
    does = {"chief": "leads and saves"}.get(kind, "tests the checkpoints")
    lines = (
        label(f"{kind} {number}", box.middle, box.y + 19),
        label(does, box.middle, box.y + 35, faint=True),
    )
    return frame(box) + "".join(lines)


def _worker(plan: Plan, number: int, box: Box) -> list[str]:
    device = plan.replica_devices[number * plan.local_replicas].rpartition("/")[2]
    device = f"{plan.local_replicas} GPUs" if plan.local_replicas > 1 else device
    upper = Box(box.x, box.y, box.width, box.height - SHARD_HEIGHT)
    lower = Box(box.x, upper.bottom, box.width, SHARD_HEIGHT)
    color = color_of(number * plan.local_replicas)
    return [
        filled(upper, color, f"worker {number}", device),
        shard(lower, color, f"its own {plan.per_replica_batch_size:,}"),
    ]


def _holds(number: int, servers: int) -> str:
    return "holds the variables" if servers == 1 else f"variables, part {number + 1}"


def _more(count: int, what: str) -> str:
    return markup.quiet(f"and {count} more {what}{'s' * (count > 1)} like these") if count else ""


def _account(plan: Plan, servers: int) -> str:
    tests = " An evaluator tests the checkpoints." if "evaluator-0" in plan.tasks else ""
    return (
        f"A chief hands out steps to {plan.workers} worker{'s' * (plan.workers > 1)}; {servers} "
        f"parameter server{'s' * (servers > 1)} hold{'s' * (servers == 1)} the variables. Each "
        "worker reads the weights, takes "
        f"{plan.per_replica_batch_size} examples of its own and sends its gradients, without "
        f"waiting for the others: there is no global batch.{tests}"
    )
