"""A small picture of a plan: tasks, devices, the place of the variables, each replica's batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.fields import LOCAL
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
WIDE = 4
"""More replicas or workers than this, side by side, take the full width of the page."""
NARROWEST, A_REPLICA = 440, 104
TITLE_HEIGHT, DEVICE_HEIGHT, SHARD_HEIGHT, BAND_HEIGHT = 32, 46, 24, 26
WITH_SERVERS = 460
"""The narrowest picture with parameter servers."""
CHIEF_HEIGHT, WORKER_HEIGHT, SERVER_HEIGHT, OWN_BATCH_HEIGHT = 44, 62, 44, 22
HOLDS = "currentColor"


def draw(plan: Plan) -> str:
    """Return SVG with the text colour of the page and a description in words."""
    if not plan.synchronous:
        return _draw_servers(plan)
    return _draw_workers(plan) if plan.workers > 1 else _draw_process(plan)


def is_wide(plan: Plan) -> bool:
    """Return whether the picture needs the full width of the page."""
    across = plan.workers * plan.local_replicas if plan.synchronous else plan.workers
    return across > WIDE


def _draw_process(plan: Plan) -> str:
    shown = plan.replica_devices[:MOST]
    more = len(plan.replica_devices) - len(shown)
    across = max(NARROWEST, A_REPLICA * len(shown))
    central = plan.strategy == "central_storage"
    summed = len(shown) > 1 and not central
    host = Box(GAP, TITLE_HEIGHT, across - 2 * GAP, 30 if central else 0)
    top = host.bottom + (26 if central else 0)
    boxes = columns(len(shown), GAP, across - 2 * GAP, top, DEVICE_HEIGHT)
    bottom = top + DEVICE_HEIGHT + (30 if summed else GAP)
    parts = [frame(Box(1, 1, across - 2, bottom - 1), f"worker 0: one process, {_where(plan)}")]
    if central:
        parts.append(band(host, "variables: one copy, on the host (CPU:0)"))
        parts += [arrow(box.middle, host.bottom + 4, top - 4, both=True) for box in boxes]
    if summed:
        sums = "gradients are summed over the replicas in every step"
        parts.append(label(sums, across / 2, bottom - 10, faint=True))
    for at, (device, box) in enumerate(zip(shown, boxes, strict=True)):
        parts.append(_replica(plan, at, device, box))
        parts.append(_share(plan, at, box, bottom))
    down = bottom + 22 + SHARD_HEIGHT + 20
    parts.append(_batch_text(plan, down - 4))
    return svg(across, down, _account(plan), *parts) + _and_more(more, "replica")


def _draw_workers(plan: Plan) -> str:
    workers = min(plan.workers, MOST)
    each = min(plan.local_replicas, max(1, MOST // workers))
    across = max(NARROWEST, (A_REPLICA + 2 * GAP) * each * workers)
    height = TITLE_HEIGHT + DEVICE_HEIGHT + GAP
    joint = Box(1, 1, across - 2, BAND_HEIGHT)
    processes = columns(workers, 1, across - 2, joint.bottom + 25, height)
    bottom = processes[0].bottom
    parts = [band(joint, "all-reduce: gradients are summed over all replicas in every step")]
    for worker, process in enumerate(processes):
        parts.append(frame(process, f"worker {worker}{': one process' * (process.width > 180)}"))
        inside = process.x + GAP, process.width - 2 * GAP
        for at, box in enumerate(columns(each, *inside, process.y + TITLE_HEIGHT, DEVICE_HEIGHT)):
            replica = worker * plan.local_replicas + at
            device = plan.replica_devices[replica].rpartition("/")[2]
            parts.append(_replica(plan, replica, device, box))
            parts.append(_share(plan, replica, box, bottom))
        parts.append(arrow(process.middle, joint.bottom + 3, process.y - 3, both=True))
    down = bottom + 22 + SHARD_HEIGHT + 20
    parts.append(_batch_text(plan, down - 4))
    left = plan.local_replicas - each
    return (
        svg(across, down, _account(plan), *parts)
        + _and_more(plan.workers - workers, "worker")
        + _and_more(left, "replica", " in each worker")
    )


def _draw_servers(plan: Plan) -> str:
    """Draw chief, workers and servers: the workers do not wait for each other."""
    servers = [task for task in plan.tasks if task.startswith("ps-")]
    workers, held = min(plan.workers, MOST), min(len(servers), MOST)
    across = max(WITH_SERVERS, (A_REPLICA + GAP) * max(workers, held))
    row = 1, across - 2
    leaders = [task for task in plan.tasks if task.startswith(("chief-", "evaluator-"))]
    first = columns(len(leaders), *row, 1, CHIEF_HEIGHT)
    given = Box(1, first[0].bottom + 22, across - 2, BAND_HEIGHT)
    second = columns(workers, *row, given.bottom + 22, WORKER_HEIGHT)
    joint = Box(1, second[0].bottom + 26, across - 2, BAND_HEIGHT)
    third = columns(held, *row, joint.bottom + 26, SERVER_HEIGHT)
    parts = [_leader(task, box) for task, box in zip(leaders, first, strict=True)]
    parts.append(arrow(first[0].middle, first[0].bottom + 3, given.y - 3))
    parts.append(band(given, "steps, each handed to a free worker"))
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
    return (
        svg(across, down, _account_of_servers(plan, len(servers)), *parts)
        + _and_more(plan.workers - workers, "worker")
        + _and_more(len(servers) - held, "server")
    )


def _replica(plan: Plan, number: int, device: str, box: Box) -> str:
    kind = "virtual " if plan.virtual and plan.workers == 1 else ""
    name = f"core {device}" if plan.on_tpu else f"{kind}{device}"
    return filled(box, color_of(number), f"replica {number}", name)


def _share(plan: Plan, replica: int, box: Box, above: float) -> str:
    size = plan.per_replica_batch_size
    first = replica * size
    one = plan.workers == 1
    text = f"examples {first:,} to {first + size - 1:,}" if one and box.width > 150 else f"{size:,}"
    below = Box(box.x, above + 22, box.width, SHARD_HEIGHT)
    return arrow(box.middle, below.y - 3, above + 5) + shard(below, color_of(replica), text)


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
    upper = Box(box.x, box.y, box.width, box.height - OWN_BATCH_HEIGHT)
    lower = Box(box.x, upper.bottom, box.width, OWN_BATCH_HEIGHT)
    color = color_of(number * plan.local_replicas)
    return [
        filled(upper, color, f"worker {number}", device),
        shard(lower, color, f"its own {plan.per_replica_batch_size:,}"),
    ]


def _holds(number: int, servers: int) -> str:
    return "holds the variables" if servers == 1 else f"variables, part {number + 1}"


def _batch_text(plan: Plan, y: float) -> str:
    text = f"the global batch of one step: {plan.global_batch_size:,} examples"
    return label(text, GAP, y, faint=True, middle=False)


def _where(plan: Plan) -> str:
    tpu = plan.config.tpu
    elsewhere = f" {tpu}" if plan.on_tpu and tpu != LOCAL else ""
    return f"{plan.strategy_label}{elsewhere}"


def _and_more(count: int, what: str, where: str = "") -> str:
    one = f"and {count} more {what}{'s' * (count > 1)}{where} like these"
    return markup.quiet(one) if count > 0 else ""


def _account(plan: Plan) -> str:
    takes = (
        f"each takes {plan.per_replica_batch_size} of the {plan.global_batch_size} examples of a "
        "step"
    )
    if plan.workers > 1:
        return (
            f"{plan.workers} worker processes with {plan.local_replicas} "
            f"replica{'s' * (plan.local_replicas > 1)} each; {takes}. An all-reduce between the "
            "workers sums the gradients of all replicas in every step."
        )
    count = len(plan.replica_devices)
    more = f" and {count - MOST} more" if count > MOST else ""
    devices = ", ".join(plan.replica_devices[:MOST]) + more
    if count == 1:
        takes = f"it takes all {plan.global_batch_size} examples of a step"
        return f"One process with one replica on {devices}; {takes}."
    summed = "gradients are summed over the replicas in every step"
    if plan.strategy == "central_storage":
        summed = (
            "the variables have one copy, on the host, where every replica reads it and sends "
            "gradients"
        )
    return f"One process with {count} replicas on {devices}; {takes}; {summed}."


def _account_of_servers(plan: Plan, servers: int) -> str:
    tests = " An evaluator tests the checkpoints." if plan.evaluator else ""
    return (
        f"A chief hands out steps to {plan.workers} worker{'s' * (plan.workers > 1)}; {servers} "
        f"parameter server{'s' * (servers > 1)} hold{'s' * (servers == 1)} the variables. Each "
        "worker reads the weights, takes "
        f"{plan.per_replica_batch_size} examples of its own and sends its gradients, without "
        f"waiting for the others: there is no global batch.{tests}"
    )
