"""The SVG pieces of pictures; their text has the colour of the page's text."""

from __future__ import annotations

import html
from dataclasses import dataclass

from workbench.charts import REPLICA_COLORS

GAP = 12
_LINE = 'fill="none" stroke="currentColor" stroke-opacity="0.6"'


@dataclass(frozen=True)
class Box:
    """A rectangle, in pixels."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height


def columns(count: int, x: float, width: float, y: float, height: float) -> list[Box]:
    """Return `count` boxes side by side in this width."""
    each = (width - (count - 1) * GAP) / count
    return [Box(x + at * (each + GAP), y, each, height) for at in range(count)]


def color_of(replica: int) -> str:
    """Return the colour that charts give a replica."""
    return REPLICA_COLORS[replica % len(REPLICA_COLORS)]


def rect(box: Box, radius: int, style: str) -> str:
    """Draw a rectangle with round corners; `style` has the attributes of its fill and its line."""
    return (
        f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}" rx="{radius}" {style}/>'
    )


def text(content: str, x: float, y: float, style: str = "", anchor: str = "") -> str:
    """Draw a line of text that starts at a point; `anchor` can place it otherwise."""
    css = f' class="{style}"' if style else ""
    where = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{where}{css}>{html.escape(content)}</text>'


def grid(x: float, y: float, to_x: float, to_y: float) -> str:
    """Draw a faint grid line, which helps to read values."""
    return (
        f'<path d="M{x:.1f} {y:.1f} L{to_x:.1f} {to_y:.1f}" stroke="currentColor" '
        'stroke-opacity="0.15"/>'
    )


def frame(box: Box, title: str = "") -> str:
    """Draw the outline of a process with its title inside, at the top."""
    return rect(box, 6, _LINE) + (text(title, box.x + 10, box.y + 20) if title else "")


def filled(box: Box, color: str, *lines: str) -> str:
    """Draw a coloured box with lines of text in its middle; all lines after the first are faint."""
    top = box.y + box.height / 2 - 8 * (len(lines) - 1) + 4
    drawn = "".join(
        label(line, box.middle, top + 16 * at, faint=at > 0) for at, line in enumerate(lines)
    )
    style = f'fill="{color}" fill-opacity="0.14" stroke="{color}" stroke-width="1.5"'
    return rect(box, 4, style) + drawn


def shard(box: Box, color: str, content: str) -> str:
    """Draw the examples that a replica or a worker takes."""
    style = f'fill="{color}" fill-opacity="0.3"'
    return rect(box, 3, style) + label(content, box.middle, box.y + box.height / 2 + 4)


def band(box: Box, content: str) -> str:
    """Draw a bar with the action that all boxes next to it share."""
    style = 'fill="currentColor" fill-opacity="0.09"'
    return rect(box, 4, style) + label(content, box.middle, box.y + box.height / 2 + 4)


def label(content: str, x: float, y: float, *, faint: bool = False, middle: bool = True) -> str:
    """Draw a line of text: its middle, or without `middle` its start, is at the point."""
    return text(content, x, y, "wb-faint" if faint else "", "middle" if middle else "")


def arrow(x: float, tail: float, head: float, *, both: bool = False) -> str:
    """Draw a vertical arrow; with `both` it has two heads."""
    back = 5 if tail < head else -5
    tip = f"m-4 {-back} l4 {back} l4 {-back}"
    other = f'<path d="M{x:.1f} {tail:.1f} m-4 {back} l4 {-back} l4 {back}" {_LINE}/>'
    line = f'<path d="M{x:.1f} {tail:.1f} V{head:.1f} {tip}" {_LINE}/>'
    return line + (other if both else "")


def svg(
    across: float, down: float, description: str, *parts: str, name: str = "Picture of the plan"
) -> str:
    """Return a picture with `description`, a description in words for readers who cannot see it.

    The picture shrinks with the page as long as its text is readable. On a narrower page it
    scrolls; `name` is the name of the region that scrolls.
    """
    return (
        f'<div class="wb-across" tabindex="0" role="region" aria-label="{html.escape(name)}">'
        f'<svg class="wb-picture" viewBox="0 0 {across:.0f} {down:.0f}" role="img" '
        f'style="max-width:{across * 1.3:.0f}px;min-width:{across * 0.75:.0f}px" '
        f'aria-label="{html.escape(description)}">{"".join(parts)}</svg></div>'
    )
