"""A small picture of a plan: the task, its devices, and which examples each replica takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.charts import REPLICA_COLORS

from . import markup

if TYPE_CHECKING:
    from workbench.plan import Plan

WIDTH, GAP, MOST = 720, 14, 8
TASK_TOP, DEVICE_TOP, DEVICE_HEIGHT = 8, 34, 50


def draw(plan: Plan) -> str:
    """Return SVG that takes its text colour from the page."""
    shown = plan.replica_devices[:MOST]
    width = (WIDTH - 2 * GAP - (len(shown) - 1) * GAP) / len(shown)
    places = [(GAP + at * (width + GAP), width) for at in range(len(shown))]
    height = DEVICE_TOP + DEVICE_HEIGHT + 80
    parts = [_task(plan), _batch(plan, places)]
    for replica, (device, place) in enumerate(zip(shown, places, strict=True)):
        parts.append(_replica(plan, replica, device, place))
    if len(places) > 1:
        parts.append(_SUMMED)
    more = len(plan.replica_devices) - len(shown)
    label = _account(plan, more)
    return (
        f'<svg class="wb-picture" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{markup.text(label)}">{"".join(parts)}</svg>'
        + (markup.quiet(f"and {more} more replicas like these") if more else "")
    )


def _account(plan: Plan, more: int) -> str:
    devices = ", ".join(plan.replica_devices[:MOST]) + (f" and {more} more" if more else "")
    return (
        f"One task with {plan.num_replicas_in_sync} replicas on {devices}; each takes "
        f"{plan.per_replica_batch_size} of the {plan.global_batch_size} examples of a step."
    )


def _task(plan: Plan) -> str:
    height = DEVICE_TOP + DEVICE_HEIGHT + GAP - TASK_TOP + 6
    return (
        f'<rect x="1" y="{TASK_TOP - 6}" width="{WIDTH - 2}" height="{height}" rx="6" '
        'fill="none" stroke="currentColor" stroke-opacity="0.35"/>'
        f'<text x="{GAP}" y="{TASK_TOP + 15}">worker 0: one process, '
        f"{markup.text(plan.strategy_label)}</text>"
    )


def _replica(plan: Plan, replica: int, device: str, place: tuple[float, float]) -> str:
    x, width = place
    color = REPLICA_COLORS[replica % len(REPLICA_COLORS)]
    kind = "virtual " if plan.virtual else ""
    middle = x + width / 2
    return (
        f'<rect x="{x:.1f}" y="{DEVICE_TOP}" width="{width:.1f}" height="{DEVICE_HEIGHT}" rx="4" '
        f'fill="{color}" fill-opacity="0.14" stroke="{color}" stroke-width="1.5"/>'
        f'<text x="{middle:.1f}" y="{DEVICE_TOP + 21}" text-anchor="middle">'
        f"replica {replica}</text>"
        f'<text x="{middle:.1f}" y="{DEVICE_TOP + 38}" text-anchor="middle" class="wb-faint">'
        f"{kind}{markup.text(device)}</text>"
    )


_SUMMED = (
    f'<text x="{WIDTH - GAP}" y="{TASK_TOP + 15}" text-anchor="end" class="wb-faint">'
    "gradients are summed across replicas every step</text>"
)


def _batch(plan: Plan, places: list[tuple[float, float]]) -> str:
    top = DEVICE_TOP + DEVICE_HEIGHT + 32
    size = plan.per_replica_batch_size
    parts = [
        f'<text x="{GAP}" y="{top + 42}" class="wb-faint">global batch of one step: '
        f"{plan.global_batch_size:,} examples</text>"
    ]
    for replica, (x, width) in enumerate(places):
        color = REPLICA_COLORS[replica % len(REPLICA_COLORS)]
        middle, first = x + width / 2, replica * size
        parts.append(
            f'<rect x="{x:.1f}" y="{top}" width="{width:.1f}" height="24" rx="3" '
            f'fill="{color}" fill-opacity="0.3"/>'
            f'<text x="{middle:.1f}" y="{top + 16}" text-anchor="middle">'
            f"{_shard(first, size, len(places))}</text>"
            f'<path d="M{middle:.1f} {top - 3} V{top - 14} m-4 5 l4 -5 l4 5" fill="none" '
            'stroke="currentColor" stroke-opacity="0.6"/>'
        )
    return "".join(parts)


def _shard(first: int, size: int, places: int) -> str:
    if places > 4:
        return f"{size:,}"
    return f"examples {first:,} to {first + size - 1:,}" if size > 1 else f"example {first:,}"
