"""The picture of one step: its batch dealt out, each replica's numbers, the sum, the weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.charts import REPLICA_COLORS

from . import markup

MOST, FEW_ROWS = 8, 3
MARGIN, GAP = 8, 34
NARROW, WIDE, NARROWEST = 150, 212, 560
BATCH, BOX, SUM, WEIGHTS = 28, 108, 278, 364
BATCH_HEIGHT, SUM_HEIGHT, WEIGHTS_HEIGHT, LINE = 46, 52, 54, 21
BOTTOM = 448
MIDDLE = 'text-anchor="middle"'


@dataclass(frozen=True)
class _Column:
    """Where a replica is drawn, in pixels."""

    replica: dict[str, Any]
    x: float
    width: float

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    @property
    def color(self) -> str:
        return REPLICA_COLORS[self.replica["replica"] % len(REPLICA_COLORS)]


def draw(told: dict[str, Any]) -> str:
    """Return SVG of what `Run.xray` returned; it takes its text colour from the page."""
    shown = told["replicas"][:MOST]
    each = WIDE if len(shown) <= 4 else NARROW
    across = max(NARROWEST, 2 * MARGIN + len(shown) * (each + GAP) - GAP)
    width = (across - 2 * MARGIN + GAP) / len(shown) - GAP
    columns = [
        _Column(replica, MARGIN + at * (width + GAP), width) for at, replica in enumerate(shown)
    ]
    parts = [_title(told), *(_replica(told, column) for column in columns)]
    parts += [_sum(told, across), _weights(told, columns, across), _verdict(told, across)]
    more = len(told["replicas"]) - len(shown)
    left_out = markup.quiet(f"and {more} more replicas; all numbers stand below") if more else ""
    svg = (
        f'<svg class="wb-picture wb-xray" viewBox="0 0 {across:.0f} {BOTTOM}" role="img" '
        f'style="max-width:{across * 1.25:.0f}px;min-width:{across * 0.8:.0f}px" '
        f'aria-label="{markup.text(account(told))}">{"".join(parts)}</svg>'
    )
    return (
        f'<div class="wb-across" tabindex="0" role="group" aria-label="X-ray">{svg}</div>{left_out}'
    )


def account(told: dict[str, Any]) -> str:
    """Return in a few sentences what the picture shows."""
    replicas = "; ".join(
        f"replica {each['replica']} took {each['examples']} examples, loss sum "
        f"{number(each['loss_sum'])}, over {told['examples']} is {number(each['contribution'])}, "
        f"gradient norm {number(each['gradient_norm'])}"
        for each in told["replicas"][:MOST]
    )
    return (
        f"Step {told['step']}: {told['examples']} examples. {replicas}. The summed gradient has "
        f"the norm {number(told['sum_norm'])}. {verdict(told['weights'])}"
    )


def verdict(weights: dict[str, Any]) -> str:
    """Return whether the copies of the weights are equal, in a sentence."""
    copies, count = weights["after"], f"{weights['numbers']:,} numbers"
    if len(copies) == 1:
        return f"There is one copy of the weights ({count}), on {copies[0]['device']}."
    if weights["equal"]:
        return f"All {len(copies)} copies of the weights are equal, bit by bit ({count})."
    return f"The copies of the weights are not equal: {', '.join(weights['differing'])}."


def number(value: float | None) -> str:
    """Return a measured number with six digits; None is one that is not finite."""
    return "not finite" if value is None else f"{value:,.6g}"


def _title(told: dict[str, Any]) -> str:
    words = f"global batch of step {told['step']:,}: {told['examples']:,} examples, dealt out"
    return _text(MARGIN, 18, words, "wb-strong")


def _replica(told: dict[str, Any], column: _Column) -> str:
    replica = column.replica
    share = f"{replica['examples']:,} examples"
    parts = [
        _rect(column, BATCH, BATCH_HEIGHT, 0.3),
        _middle(column.middle, BATCH + 19, share, "wb-strong"),
        _middle(column.middle, BATCH + 37, few(replica["rows"]), "wb-faint"),
        _down(column.middle, BATCH + BATCH_HEIGHT + 3, BOX - 3),
        _rect(column, BOX, SUM - BOX - 34, 0.12),
        _text(column.x + 10, BOX + LINE, f"replica {replica['replica']}", "wb-strong"),
        _end(column, BOX + LINE, f"{'virtual ' * told['virtual']}{replica['device']}", "wb-faint"),
    ]
    for at, (name, value, faint) in enumerate(_lines(told, replica), 2):
        y, look = BOX + at * LINE + 2, "wb-faint" if faint else ""
        parts += [_text(column.x + 10, y, name, look), _end(column, y, value, look)]
    parts.append(_down(column.middle, SUM - 31, SUM - 3))
    return "".join(parts)


def _lines(told: dict[str, Any], replica: dict[str, Any]) -> list[tuple[str, str, bool]]:
    """Return name, value and whether it is of second rank, of each line of a replica's box."""
    lines = [
        ("loss sum", number(replica["loss_sum"]), False),
        (f"÷ {told['examples']:,}", f"= {number(replica['contribution'])}", False),
        ("gradient norm", number(replica["gradient_norm"]), False),
    ]
    if told["agrees"] is not None:
        lines.insert(1, ("recorded", number(replica["recorded_loss_sum"]), True))
    return lines


def _sum(told: dict[str, Any], across: float) -> str:
    many = len(told["replicas"]) > 1
    words = "all-reduce: sum of the gradients" if many else "one replica: nothing to sum"
    clipped = told["applied_norm"]
    after = "" if clipped is None else f", clipped to {number(clipped)}"
    below = _together(told["replicas"]) if many else "its gradient is the gradient"
    middle = across / 2
    return (
        _outline(MARGIN, SUM, across - 2 * MARGIN, SUM_HEIGHT)
        + _middle(middle, SUM + 22, f"{words}, norm {number(told['sum_norm'])}{after}", "wb-strong")
        + _middle(middle, SUM + 41, below, "wb-faint")
    )


def _together(replicas: list[dict[str, Any]]) -> str:
    norms = [replica["gradient_norm"] for replica in replicas]
    if None in norms:
        return "a gradient is not finite, so neither is the sum"
    return f"the norms by themselves add up to {number(sum(norms))}: directions differ"


def _weights(told: dict[str, Any], columns: list[_Column], across: float) -> str:
    copies = told["weights"]["after"]
    arrows = "".join(_down(each.middle, SUM + SUM_HEIGHT + 3, WEIGHTS - 3) for each in columns)
    if len(copies) != len(told["replicas"]):
        words = f"one copy of the weights, on the host ({copies[0]['device']})"
        return (
            arrows
            + _outline(MARGIN, WEIGHTS, across - 2 * MARGIN, WEIGHTS_HEIGHT)
            + _copy(across / 2, copies[0], words)
        )
    words = "weights after the update"
    boxes = "".join(
        _rect(column, WEIGHTS, WEIGHTS_HEIGHT, 0.12) + _copy(column.middle, copy, words)
        for column, copy in zip(columns, copies, strict=False)
    )
    hashes = [copy["sha256"] for copy in copies[: len(columns)]]
    pairs = zip(columns, hashes, hashes[1:], strict=False)
    return arrows + boxes + "".join(_mark(column, one == other) for column, one, other in pairs)


def _copy(middle: float, copy: dict[str, str], words: str) -> str:
    return _middle(middle, WEIGHTS + 20, words, "wb-faint") + _middle(
        middle, WEIGHTS + 41, copy["sha256"], "wb-hash"
    )


def _mark(column: _Column, same: bool) -> str:
    x, y = column.x + column.width + GAP / 2, WEIGHTS + WEIGHTS_HEIGHT / 2 + 7
    title = "equal" if same else "not equal"
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" {MIDDLE} class="wb-mark{"" if same else " wb-unlike"}">'
        f"<title>{title}</title>{'=' if same else '≠'}</text>"
    )


def _verdict(told: dict[str, Any], across: float) -> str:
    weights = told["weights"]
    alike = weights["equal"]
    sentence = verdict(weights)
    words = sentence if alike else "Not equal: the copies of the weights differ."
    return _middle(across / 2, BOTTOM - 8, words, "wb-strong" if alike else "wb-strong wb-unlike")


def few(rows: list[int] | None) -> str:
    """Return the first of the numbers of a replica's examples."""
    if rows is None:
        return "not those of the script's order"
    return ("no. " + ", ".join(map(str, rows[:FEW_ROWS]))) + (
        " ..." if len(rows) > FEW_ROWS else ""
    )


def _text(x: float, y: float, words: str, look: str = "", more: str = "") -> str:
    css = f' class="{look}"' if look else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{css}{more}>{markup.text(words)}</text>'


def _middle(x: float, y: float, words: str, look: str = "") -> str:
    return _text(x, y, words, look, f" {MIDDLE}")


def _end(column: _Column, y: float, words: str, look: str = "") -> str:
    return _text(column.x + column.width - 10, y, words, look, ' text-anchor="end"')


def _rect(column: _Column, y: float, height: float, opacity: float) -> str:
    return (
        f'<rect x="{column.x:.1f}" y="{y}" width="{column.width:.1f}" height="{height}" rx="5" '
        f'fill="{column.color}" fill-opacity="{opacity}" stroke="{column.color}" '
        'stroke-width="1.5"/>'
    )


def _outline(x: float, y: float, width: float, height: float) -> str:
    return (
        f'<rect x="{x}" y="{y}" width="{width:.1f}" height="{height}" rx="5" fill="none" '
        'stroke="currentColor" stroke-opacity="0.55" stroke-width="1.5"/>'
    )


def _down(x: float, top: float, bottom: float) -> str:
    return (
        f'<path d="M{x:.1f} {top} V{bottom} m-5 -6 l5 6 l5 -6" fill="none" stroke="currentColor" '
        'stroke-opacity="0.65" stroke-width="1.3"/>'
    )
