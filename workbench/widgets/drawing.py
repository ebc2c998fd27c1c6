"""Pieces of SVG that pictures of plans are made of; text takes its colour from the page."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.charts import REPLICA_COLORS

from . import markup

GAP = 12
_MIDDLE = 'text-anchor="middle"'
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
    """Return so many boxes beside each other in this width."""
    each = (width - (count - 1) * GAP) / count
    return [Box(x + at * (each + GAP), y, each, height) for at in range(count)]


def color_of(replica: int) -> str:
    """Return the colour that charts give a replica."""
    return REPLICA_COLORS[replica % len(REPLICA_COLORS)]


def frame(box: Box, title: str = "") -> str:
    """Draw the outline of a process with its title inside, at the top."""
    named = f'<text x="{box.x + 10:.1f}" y="{box.y + 20:.1f}">{markup.text(title)}</text>'
    return (
        f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}" rx="6" {_LINE}/>{named if title else ""}'
    )


def filled(box: Box, color: str, *lines: str) -> str:
    """Draw a coloured box with lines of text in its middle; all but the first are secondary."""
    top = box.y + box.height / 2 - 8 * (len(lines) - 1) + 4
    drawn = "".join(
        words(text, box.middle, top + 16 * at, faint=at > 0) for at, text in enumerate(lines)
    )
    return (
        f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}" rx="4" fill="{color}" fill-opacity="0.14" '
        f'stroke="{color}" stroke-width="1.5"/>{drawn}'
    )


def shard(box: Box, color: str, text: str) -> str:
    """Draw the examples that somebody takes."""
    return (
        f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}" rx="3" fill="{color}" fill-opacity="0.3"/>'
        f"{words(text, box.middle, box.y + box.height / 2 + 4)}"
    )


def band(box: Box, text: str) -> str:
    """Draw what all that touch it do together."""
    return (
        f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}" rx="4" fill="currentColor" fill-opacity="0.09"/>'
        f"{words(text, box.middle, box.y + box.height / 2 + 4)}"
    )


def words(text: str, x: float, y: float, *, faint: bool = False, middle: bool = True) -> str:
    """Draw a line of text around, or else from, a point."""
    anchor, style = (_MIDDLE if middle else ""), ('class="wb-faint"' if faint else "")
    return f'<text x="{x:.1f}" y="{y:.1f}" {anchor} {style}>{markup.text(text)}</text>'


def arrow(x: float, tail: float, head: float, *, both: bool = False) -> str:
    """Draw a vertical arrow; with `both` it has two heads."""
    back = 5 if tail < head else -5
    tip = f"m-4 {-back} l4 {back} l4 {-back}"
    other = f'<path d="M{x:.1f} {tail:.1f} m-4 {back} l4 {-back} l4 {back}" {_LINE}/>'
    line = f'<path d="M{x:.1f} {tail:.1f} V{head:.1f} {tip}" {_LINE}/>'
    return line + (other if both else "")


def svg(across: float, down: float, account: str, *parts: str) -> str:
    """Return a picture with its account in words for those who do not see it.

    It shrinks with the page as far as its text can be read, then it scrolls.
    """
    return (
        '<div class="wb-across" tabindex="0" role="region" aria-label="Picture of the plan">'
        f'<svg class="wb-picture" viewBox="0 0 {across:.0f} {down:.0f}" role="img" '
        f'style="max-width:{across * 1.3:.0f}px;min-width:{across * 0.75:.0f}px" '
        f'aria-label="{markup.text(account)}">{"".join(parts)}</svg></div>'
    )
