"""The X-ray picture of one step: the replicas' batches and numbers, the sum, and the weights."""

from __future__ import annotations

import html
from dataclasses import dataclass

from workbench.runs.programs.step_xray import ReplicaXray, StepXray, WeightsCopy

from .drawing import Box, color_of, rect, text
from .xray_words import number, verdict

MOST, FEW_ROWS = 8, 3
MARGIN, GAP, ARROW = 8, 34, 34
COLUMN, NARROWEST = 196, 560
BATCH, BATCH_HEIGHT, BOX, LINE, SUM_HEIGHT, WEIGHTS_HEIGHT = 28, 46, 108, 21, 52, 54


@dataclass(frozen=True)
class _Column:
    """The place of a replica in the picture, in pixels, and the lines of its box."""

    replica: ReplicaXray
    lines: list[tuple[str, str, bool]]
    """Each line: its name, its value, and whether it is faint."""
    x: float
    width: float

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    @property
    def sum(self) -> float:
        """The top of the sum's box, which is below the replica's box."""
        return BOX + (len(self.lines) + 1) * LINE + 16 + ARROW

    @property
    def weights(self) -> float:
        """The top of the weights' box, which is below the sum's box."""
        return self.sum + SUM_HEIGHT + ARROW

    @property
    def bottom(self) -> float:
        return self.weights + WEIGHTS_HEIGHT + 32

    @property
    def color(self) -> str:
        return color_of(self.replica.replica)


def draw(xray: StepXray) -> str:
    """Return SVG of the result of `Run.xray`; its text has the colour of the page's text."""
    shown = xray.replicas[:MOST]
    across = max(NARROWEST, 2 * MARGIN + len(shown) * (COLUMN + GAP) - GAP)
    width = (across - 2 * MARGIN + GAP) / len(shown) - GAP
    columns = [
        _Column(replica, _lines(xray, replica), MARGIN + at * (width + GAP), width)
        for at, replica in enumerate(shown)
    ]
    parts = [_title(xray), *(_share(column, across) for column in columns)]
    parts += [_replica(xray, column) for column in columns]
    parts += [_sum(xray, columns[0], across), _weights(xray, columns, across)]
    parts.append(_verdict(xray, columns[0], across))
    svg = (
        f'<svg class="wb-picture wb-xray" viewBox="0 0 {across} {columns[0].bottom}" role="img" '
        f'style="max-width:{across * 1.25:.0f}px;min-width:{across * 0.8:.0f}px" '
        f'aria-label="{html.escape(description(xray))}">{"".join(parts)}</svg>'
    )
    return f'<div class="wb-across" tabindex="0" role="group" aria-label="X-ray">{svg}</div>'


def left_out(xray: StepXray) -> str:
    """Return a sentence on the replicas that the picture leaves out; empty if there are none."""
    more = len(xray.replicas) - MOST
    return f"and {more} more replicas; all numbers are in the table below" if more > 0 else ""


def description(xray: StepXray) -> str:
    """Return a description of the picture in a few sentences."""
    replicas = "; ".join(
        f"{each.name} took {each.examples} examples, loss sum "
        f"{number(each.loss_sum)}, divided by {xray.examples} is {number(each.contribution)}, "
        f"gradient norm {number(each.gradient_norm)}"
        for each in xray.replicas[:MOST]
    )
    return (
        f"Step {xray.step}: {xray.examples} examples. {replicas}. The summed gradient has "
        f"the norm {number(xray.sum_norm)}. {verdict(xray.weights)}"
    )


def reduction(xray: StepXray) -> str:
    """Return the name of the sum: `all-reduce` gives it to every replica, else the host has it."""
    mirrored = len(xray.weights.after) == len(xray.replicas)
    return "all-reduce" if mirrored else "reduce to the host"


def _title(xray: StepXray) -> str:
    dealt = ", split among the replicas" if len(xray.replicas) > 1 else ""
    words = f"global batch of step {xray.step:,}: {xray.examples:,} examples{dealt}"
    return text(words, MARGIN, 18, "wb-strong")


def _share(column: _Column, across: float) -> str:
    """Return a replica's part of the bar that shows the batch."""
    left, right = max(MARGIN, column.x - GAP / 2), column.x + column.width + GAP / 2
    bar = _Column(column.replica, [], left, min(right, across - MARGIN) - left)
    words = f"{column.replica.examples:,} examples"
    return (
        _rect(bar, BATCH, BATCH_HEIGHT, 0.3)
        + _middle(column.middle, BATCH + 19, words, "wb-strong")
        + _middle(column.middle, BATCH + 37, few(column.replica.rows), "wb-faint")
        + _down(column.middle, BATCH + BATCH_HEIGHT, BOX)
    )


def _replica(xray: StepXray, column: _Column) -> str:
    place, _, device = column.replica.device.rpartition("/")
    kind = "virtual " if xray.virtual and not place else ""
    parts = [
        _rect(column, BOX, column.sum - ARROW - BOX, 0.12),
        text(column.replica.name, column.x + 10, BOX + LINE, "wb-strong"),
        _end(column, BOX + LINE, kind + device, "wb-faint"),
        _down(column.middle, column.sum - ARROW, column.sum, "its gradient"),
    ]
    for at, (words, value, faint) in enumerate(column.lines, 2):
        y, style = BOX + at * LINE + 2, "wb-faint" if faint else ""
        parts += [text(words, column.x + 10, y, style), _end(column, y, value, style)]
    return "".join(parts)


def _lines(xray: StepXray, replica: ReplicaXray) -> list[tuple[str, str, bool]]:
    lines = [("loss sum", number(replica.loss_sum), False)]
    if xray.agrees is not None:
        lines.append(("recorded", number(replica.recorded_loss_sum), True))
    lines.append((f"÷ {xray.examples:,}", f"= {number(replica.contribution)}", False))
    if not xray.divides_by_batch:
        lines.append(("differentiated", number(replica.loss), True))
    return [*lines, ("gradient norm", number(replica.gradient_norm), False)]


def _sum(xray: StepXray, column: _Column, across: float) -> str:
    many = len(xray.replicas) > 1
    words = f"{reduction(xray)}: sum of the gradients" if many else "one replica: nothing to sum"
    clipped = xray.applied_norm
    after = "" if clipped is None else f", clipped to {number(clipped)}"
    below = _together(xray.replicas) if many else "its gradient is the gradient of the step"
    title = f"{words}, norm {number(xray.sum_norm)}{after}"
    return (
        _outline(column.sum, across, SUM_HEIGHT)
        + _middle(across / 2, column.sum + 22, title, "wb-strong")
        + _middle(across / 2, column.sum + 41, below, "wb-faint")
    )


def _together(replicas: list[ReplicaXray]) -> str:
    norms = [each.gradient_norm for each in replicas if each.gradient_norm is not None]
    if len(norms) < len(replicas):
        return "a gradient is not finite, so neither is the sum"
    return f"the norms alone add up to {number(sum(norms))}: directions differ"


def _weights(xray: StepXray, columns: list[_Column], across: float) -> str:
    copies, top = xray.weights.after, columns[0].weights
    words = "the sum" if len(xray.replicas) > 1 else ""
    arrows = "".join(_down(each.middle, top - ARROW, top, words) for each in columns)
    if len(copies) != len(xray.replicas):
        host = f"one copy of the weights, on the host ({copies[0].device})"
        copy = _copy(across / 2, top, copies[0], host)
        return arrows + _outline(top, across, WEIGHTS_HEIGHT) + copy
    boxes = "".join(
        _rect(column, top, WEIGHTS_HEIGHT, 0.12)
        + _copy(column.middle, top, copy, "weights after the update")
        for column, copy in zip(columns, copies, strict=False)
    )
    hashes = [copy.sha256 for copy in copies[: len(columns)]]
    pairs = zip(columns, hashes, hashes[1:], strict=False)
    return arrows + boxes + "".join(_mark(column, one == other) for column, one, other in pairs)


def _copy(middle: float, top: float, copy: WeightsCopy, words: str) -> str:
    return _middle(middle, top + 20, words, "wb-faint") + _middle(
        middle, top + 41, copy.sha256, "wb-hash"
    )


def _mark(column: _Column, same: bool) -> str:
    x, y = column.x + column.width + GAP / 2, column.weights + WEIGHTS_HEIGHT / 2 + 7
    title = "equal" if same else "not equal"
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" '
        f'class="wb-mark{"" if same else " wb-unlike"}">'
        f"<title>{title}</title>{'=' if same else '≠'}</text>"
    )


def _verdict(xray: StepXray, column: _Column, across: float) -> str:
    equal = xray.weights.equal
    words = verdict(xray.weights) if equal else "Not equal: the copies of the weights differ."
    style = "wb-strong" if equal else "wb-strong wb-unlike"
    return _middle(across / 2, column.bottom - 9, words, style)


def few(rows: list[int] | None) -> str:
    """Return the first few example numbers of a replica."""
    if rows is None:
        return "not in the training set"
    return ("no. " + ", ".join(map(str, rows[:FEW_ROWS]))) + (
        " ..." if len(rows) > FEW_ROWS else ""
    )


def _middle(x: float, y: float, words: str, style: str = "") -> str:
    return text(words, x, y, style, "middle")


def _end(column: _Column, y: float, words: str, style: str = "") -> str:
    return text(words, column.x + column.width - 10, y, style, "end")


def _rect(column: _Column, y: float, height: float, opacity: float) -> str:
    color = column.color
    style = f'fill="{color}" fill-opacity="{opacity}" stroke="{color}" stroke-width="1.5"'
    return rect(Box(column.x, y, column.width, height), 5, style)


def _outline(y: float, across: float, height: float) -> str:
    style = 'fill="none" stroke="currentColor" stroke-opacity="0.55" stroke-width="1.5"'
    return rect(Box(MARGIN, y, across - 2 * MARGIN, height), 5, style)


def _down(x: float, top: float, bottom: float, words: str = "") -> str:
    arrow = (
        f'<path d="M{x:.1f} {top + 3} V{bottom - 3} m-5 -6 l5 6 l5 -6" fill="none" '
        'stroke="currentColor" stroke-opacity="0.65" stroke-width="1.3"/>'
    )
    return arrow + (text(words, x + 10, (top + bottom) / 2 + 4, "wb-faint") if words else "")
