"""Pictures of the two searches (SVG): throughput over batch size, and loss over learning rate."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench import units
from workbench.charts.style import MEAN_COLOR, REPLICA_COLORS, TEST_COLOR
from workbench.experiments.searching.rate_test import shown_losses
from workbench.pictures import drawing
from workbench.widgets.parts import markup

if TYPE_CHECKING:
    from workbench.experiments.searching.results import Trial

RATE_COLOR, LARGEST_COLOR, BEST_COLOR = REPLICA_COLORS[:3]
SPEED = f'stroke="{RATE_COLOR}" stroke-width="1.5"'
ACROSS, DOWN, LEFT, RIGHT, BOTTOM, LINE = 720, 280, 64, 14, 36, 16
LETTER = 7
"""The largest width of a letter, in pixels."""
MOST_TICKS, MOST_POINTS = 12, 500
MARGIN = 0.04
"""The part of the width that stays free at each end of the axis of batch sizes."""


@dataclass(frozen=True)
class Frame:
    """The scales of a picture: logarithmic from left to right, linear from bottom to top."""

    x_low: float
    x_high: float
    y_low: float
    y_high: float
    lines: int = 1
    """The number of text lines above the frame."""

    @property
    def box(self) -> drawing.Box:
        """The part of the picture that shows values."""
        top = LINE * self.lines + 4
        return drawing.Box(LEFT, top, ACROSS - LEFT - RIGHT, DOWN - BOTTOM - top)

    def x(self, value: float) -> float:
        """Return the horizontal position of a value, in pixels from the left."""
        share = math.log(value / self.x_low) / math.log(self.x_high / self.x_low)
        return self.box.x + share * self.box.width

    def y(self, value: float) -> float:
        """Return the vertical position of a value, in pixels from the top."""
        share = (self.y_high - value) / (self.y_high - self.y_low)
        return self.box.y + share * self.box.height

    def axes(self, title: str, along: str, ticks: Iterable[float]) -> str:
        """Draw both axes with their titles and the grid."""
        box = self.box
        parts = [drawing.text(title, 0, 12), drawing.text(along, box.right, DOWN - 5, anchor="end")]
        for value in even_ticks(self.y_low, self.y_high):
            y = self.y(value)
            parts.append(drawing.grid(box.x, y, box.right, y))
            label = units.number(value)
            parts.append(drawing.text(label, box.x - 6, y + 4, "wb-faint", "end"))
        for value in ticks:
            x = self.x(value)
            parts.append(drawing.grid(x, box.y, x, box.bottom))
            label = f"{value:,}" if isinstance(value, int) else f"{value:g}"
            parts.append(drawing.text(label, x, box.bottom + 16, "wb-faint", "middle"))
        return "".join(parts)

    def line(self, xs: Sequence[float], ys: Sequence[float], style: str) -> str:
        """Draw a line through points; parts outside the frame are cut off."""
        every = -(-len(xs) // MOST_POINTS) or 1
        points = " ".join(
            f"{self.x(x):.1f},{self.y(y):.1f}"
            for x, y in list(zip(xs, ys, strict=True))[::every]
        )  # fmt: skip
        box = self.box
        place = f"{box.x:.0f} {box.y:.0f} {box.width:.0f} {box.height:.0f}"
        return (
            f'<svg x="{box.x:.0f}" y="{box.y:.0f}" width="{box.width:.0f}" '
            f'height="{box.height:.0f}" viewBox="{place}" overflow="hidden">'
            f'<polyline points="{points}" fill="none" {style}/></svg>'
        )

    def mark(self, value: float, label: str, line: int, color: str) -> str:
        """Draw a vertical line at a value, with its label on text line `line` above the frame."""
        x, y = self.x(value), LINE * (line + 1)
        anchor, aside = ("end", -5) if x > LETTER * len(label) else ("start", 5)
        path = f"M{x:.1f} {y - 10:.1f} V{self.box.bottom:.1f}"
        style = f'stroke="{color}" stroke-width="1.5" stroke-dasharray="5 3"'
        return f'<path d="{path}" {style}/>' + drawing.text(label, x + aside, y - 2, anchor=anchor)


def throughput(trials: Sequence[Trial], largest: int | None = None, best: int | None = None) -> str:
    """Return examples per second over the batch size; empty before a size was measured.

    Args:
        trials: the trials of a finished or a running search, in order of size.
        largest: the largest size that fits; None: not known yet.
        best: the size with the best throughput; None: not known yet.
    """
    fitting = [trial for trial in trials if trial.examples_per_second is not None]
    if not fitting:
        return ""
    sizes = [trial.per_replica_batch_size for trial in trials]
    failing = next((trial.per_replica_batch_size for trial in trials if not trial.fits), None)
    marks = _marks(failing, largest, best)
    room = max(2.0, sizes[-1] / sizes[0]) ** MARGIN
    top = 1.05 * max(map(_shown_high, fitting))
    frame = Frame(sizes[0] / room, sizes[-1] * room, 0.0, top, lines=len(marks) + 1)
    parts = [frame.axes("Examples per second", "per-replica batch size", _size_ticks(sizes))]
    if failing is not None:
        parts.append(_shade(frame, failing))
    parts += [
        frame.mark(size, f"{size:,}: {label}", line, color)
        for line, (size, label, color) in enumerate(marks, start=1)
    ]
    parts.append(_speeds(frame, fitting))
    measured = [
        f"{trial.per_replica_batch_size:,} per replica: {trial.examples_per_second:,.0f}"
        for trial in fitting
    ]
    marked = [f"{size:,}: {label}" for size, label, _ in marks]
    description = f"Examples per second by batch size. {'; '.join(measured + marked)}"
    drawn = drawing.svg(ACROSS, DOWN, description, *parts, name="Throughput by batch size")
    return drawn + _keys(("examples per second, with their 95 % interval", SPEED))


def losses(
    rates: Sequence[float],
    raw: Sequence[float | None],
    smooth: Sequence[float],
    ends: tuple[float, float],
    suggestion: float | None = None,
) -> str:
    """Return the loss over the learning rate; empty before a loss is known.

    Args:
        rates: the learning rate of each step.
        raw: the loss of each step. None means that it is not finite, which ends the curve.
        smooth: the smoothed losses, at most as many as `rates`.
        ends: the lowest and the highest learning rate of the test.
        suggestion: the suggested learning rate; None: there is none.
    """
    known = [(rate, loss) for rate, loss in zip(rates, raw, strict=True) if loss is not None]
    if not known or not smooth:
        return ""
    low, high = shown_losses(smooth)
    frame = Frame(*ends, low, high, lines=2)
    parts = [frame.axes("Loss", "learning rate", rate_ticks(*ends))]
    xs, ys = [rate for rate, _ in known], [loss for _, loss in known]
    thin = f'stroke="{MEAN_COLOR}" stroke-width="1" stroke-opacity="0.8"'
    thick = f'stroke="{RATE_COLOR}" stroke-width="2.5"'
    parts += [frame.line(xs, ys, thin), frame.line(rates[: len(smooth)], smooth, thick)]
    description = f"Loss by learning rate: smoothed {smooth[0]:.4g} at {rates[0]:.2g}, "
    description += f"{smooth[-1]:.4g} at {rates[len(smooth) - 1]:.2g}, lowest {min(smooth):.4g}"
    if suggestion is not None:
        parts.append(frame.mark(suggestion, f"{suggestion:g}: suggested", 1, TEST_COLOR))
        description += f"; {suggestion:g} is suggested"
    drawn = drawing.svg(ACROSS, DOWN, description, *parts, name="Loss by learning rate")
    return drawn + _keys(("of each step", thin), ("smoothed", thick))


def even_ticks(low: float, high: float) -> list[float]:
    """Return about five round numbers between two values, at equal distances."""
    least = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(least))
    step = next(power * times for times in (1, 2, 2.5, 5, 10) if power * times >= least * 0.999)
    return [at * step for at in range(math.ceil(low / step), math.floor(high / step) + 1)]


def rate_ticks(low: float, high: float) -> list[float]:
    """Return round numbers for a logarithmic axis.

    A wide range has only powers of ten, a narrow one also their doubles and fivefolds. If these
    are too many, every second, third or later number is kept.
    """
    several = (1, 2, 5) if high / low < 300 else (1,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [float(f"{times}e{power}") for power in powers for times in several]
    shown = [tick for tick in ticks if low * 0.999 <= tick <= high * 1.001]
    every = -(-len(shown) // MOST_TICKS) or 1
    return shown[::every] if len(shown) > 1 else [low, high]


def _size_ticks(sizes: Sequence[int]) -> list[int]:
    """Return the powers of two between the batch sizes; without any, the smallest size."""
    ticks = [2**power for power in range(sizes[-1].bit_length()) if 2**power >= sizes[0]]
    every = -(-len(ticks) // MOST_TICKS) or 1
    return ticks[::every] or [sizes[0]]


def _marks(
    failing: int | None, largest: int | None, best: int | None
) -> list[tuple[int, str, str]]:
    """Return each marked size with its description and its colour.

    The greatest size comes first. Its label is highest, so no line of another mark crosses them.
    """
    fits, fastest = "the largest that fits", "the best throughput"
    both = largest is not None and largest == best
    marks = (
        (failing, "does not fit", TEST_COLOR),
        (largest, f"{fits}, {fastest}" if both else fits, LARGEST_COLOR),
        (None if both else best, fastest, BEST_COLOR),
    )
    return [(size, label, color) for size, label, color in marks if size is not None]


def _speeds(frame: Frame, fitting: Sequence[Trial]) -> str:
    """Draw each speed with its interval, and a line through all speeds."""
    x = [trial.per_replica_batch_size for trial in fitting]
    y = [trial.examples_per_second or 0.0 for trial in fitting]
    points = "".join(
        f'<circle cx="{frame.x(a):.1f}" cy="{frame.y(b):.1f}" r="3.5" fill="{RATE_COLOR}"/>'
        for a, b in zip(x, y, strict=True)
    )
    return "".join(_whisker(frame, trial) for trial in fitting) + frame.line(x, y, SPEED) + points


def _shade(frame: Frame, size: int) -> str:
    """Shade the sizes that do not fit: `size` and all larger ones."""
    box, x = frame.box, frame.x(size)
    region = drawing.Box(x, box.y, box.right - x, box.height)
    return drawing.rect(region, 0, f'fill="{TEST_COLOR}" fill-opacity="0.12"')


def _shown_high(trial: Trial) -> float:
    value = trial.examples_per_second or 0.0
    # If the blocks are few and uneven, the interval is very wide. The cut keeps the curve readable.
    return min(trial.examples_per_second_high or value, 2 * value)


def _whisker(frame: Frame, trial: Trial) -> str:
    """Draw the interval; an upper end has no cap if it is unknown or above the frame."""
    if trial.examples_per_second_low is None:
        return ""
    x, low = frame.x(trial.per_replica_batch_size), frame.y(trial.examples_per_second_low)
    high = trial.examples_per_second_high
    inside = high is not None and high <= frame.y_high
    up = frame.y(high) if high is not None and inside else frame.box.y
    cap = "m-4 0 h8" if inside else ""
    path = f"M{x - 4:.1f} {low:.1f} h8 m-4 0 V{up:.1f} {cap}"
    return f'<path d="{path}" fill="none" stroke="{RATE_COLOR}" stroke-width="1.2"/>'


def _keys(*lines: tuple[str, str]) -> str:
    keys = "".join(
        f'<span class="wb-key"><svg width="28" height="8" aria-hidden="true">'
        f'<path d="M0 4 H28" {style}/></svg> {markup.text(label)}</span>'
        for label, style in lines
    )
    return f'<div class="wb-keys">{keys}</div>'
