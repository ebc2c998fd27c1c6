"""A small picture of a plan: the task, its devices, and which examples each replica takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.charts import REPLICA_COLORS

from . import markup

if TYPE_CHECKING:
    from workbench.plan import Plan

GAP, MOST = 12, 8
NARROWEST, A_REPLICA = 440, 104
DEVICE_TOP, DEVICE_HEIGHT = 32, 46
SHARD_HEIGHT = 24


@dataclass(frozen=True)
class _Column:
    """Where a replica is drawn, in pixels."""

    replica: int
    device: str
    x: float
    width: float

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    @property
    def color(self) -> str:
        return REPLICA_COLORS[self.replica % len(REPLICA_COLORS)]


def draw(plan: Plan) -> str:
    """Return SVG that takes its text colour from the page."""
    shown = plan.replica_devices[:MOST]
    across = max(NARROWEST, A_REPLICA * len(shown))
    width = (across - 2 * GAP - (len(shown) - 1) * GAP) / len(shown)
    columns = [
        _Column(at, device, GAP + at * (width + GAP), width) for at, device in enumerate(shown)
    ]
    summed = len(columns) > 1
    task_bottom = DEVICE_TOP + DEVICE_HEIGHT + (30 if summed else GAP)
    parts = [_task(plan, across, task_bottom, summed=summed)]
    parts += [_device(plan, column) + _shard(plan, column, task_bottom) for column in columns]
    bottom = task_bottom + 22 + SHARD_HEIGHT + 20
    parts.append(_batch_text(plan, bottom - 4))
    more = len(plan.replica_devices) - len(shown)
    return (
        f'<svg class="wb-picture" viewBox="0 0 {across} {bottom}" role="img" '
        f'style="max-width:{across * 1.3:.0f}px" '
        f'aria-label="{markup.text(_account(plan, more))}">{"".join(parts)}</svg>'
        + (markup.quiet(f"and {more} more replicas like these") if more else "")
    )


def _account(plan: Plan, more: int) -> str:
    devices = ", ".join(plan.replica_devices[:MOST]) + (f" and {more} more" if more else "")
    return (
        f"One task with {plan.num_replicas_in_sync} replicas on {devices}; each takes "
        f"{plan.per_replica_batch_size} of the {plan.global_batch_size} examples of a step."
    )


def _task(plan: Plan, across: float, bottom: float, *, summed: bool) -> str:
    text = f"worker 0: one process, {markup.text(plan.strategy_label)}"
    sums = "gradients are summed over the replicas in every step"
    line = f'<text x="{across / 2}" y="{bottom - 10}" {_MIDDLE} class="wb-faint">{sums}</text>'
    return (
        f'<rect x="1" y="1" width="{across - 2}" height="{bottom - 1}" rx="6" '
        'fill="none" stroke="currentColor" stroke-opacity="0.35"/>'
        f'<text x="{GAP}" y="21">{text}</text>{line if summed else ""}'
    )


def _device(plan: Plan, column: _Column) -> str:
    kind = "virtual " if plan.virtual else ""
    middle = f'x="{column.middle:.1f}" {_MIDDLE}'
    return (
        f'<rect x="{column.x:.1f}" y="{DEVICE_TOP}" width="{column.width:.1f}" '
        f'height="{DEVICE_HEIGHT}" rx="4" fill="{column.color}" fill-opacity="0.14" '
        f'stroke="{column.color}" stroke-width="1.5"/>'
        f'<text {middle} y="{DEVICE_TOP + 19}">replica {column.replica}</text>'
        f'<text {middle} y="{DEVICE_TOP + 36}" class="wb-faint">'
        f"{kind}{markup.text(column.device)}</text>"
    )


def _shard(plan: Plan, column: _Column, task_bottom: float) -> str:
    top = task_bottom + 22
    size = plan.per_replica_batch_size
    first = column.replica * size
    words = f"examples {first:,} to {first + size - 1:,}" if column.width > 150 else f"{size:,}"
    return (
        f'<rect x="{column.x:.1f}" y="{top}" width="{column.width:.1f}" height="{SHARD_HEIGHT}" '
        f'rx="3" fill="{column.color}" fill-opacity="0.3"/>'
        f'<text x="{column.middle:.1f}" y="{top + 16}" {_MIDDLE}>{words}</text>'
        f'<path d="M{column.middle:.1f} {top - 3} V{top - 17} m-4 5 l4 -5 l4 5" fill="none" '
        'stroke="currentColor" stroke-opacity="0.6"/>'
    )


def _batch_text(plan: Plan, y: float) -> str:
    words = f"the global batch of one step: {plan.global_batch_size:,} examples"
    return f'<text x="{GAP}" y="{y}" class="wb-faint">{words}</text>'


_MIDDLE = 'text-anchor="middle"'
