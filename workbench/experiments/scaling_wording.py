"""The meaning of a noise scale for a run in words, for the terminal and for pages."""

from __future__ import annotations

from collections.abc import Iterator

from .noise_scale import NoiseScale
from .scaling import Goodput, Larger, Scaling

HEAD = ("global batch", "replicas", "efficiency", "95 %", "speed-up", "95 %")
SCALES_HEAD = ("weights", "noise scale")
GOODPUT_HEAD = ("run", "global batch", "examples/s", "efficiency", "goodput", "95 %")
EXPLAINED = (
    "Efficiency is how much an example helps, as a share of how much it helps in very small "
    "batches. The speed-up is an upper limit: how many times faster the run reaches the same loss "
    "if a step on more replicas takes no longer and the learning rate suits it. Both follow from "
    "the noise of the plain gradient (McCandlish et al., 2018); the effect of an optimizer such as "
    "Adam is left out."
)
GOODPUT_EXPLAINED = "Goodput is examples per second times efficiency."
VIRTUAL = "Its replicas share a device, so the speed on more devices was not measured."


def scales(answer: Scaling) -> list[tuple[str, str]]:
    """Return places in training, each with its noise scale and the measured gradients."""
    return [(_where(noise), _scale(noise)) for noise in answer.growth]


def larger_rows(answer: Scaling) -> list[tuple[str, ...]]:
    """Return a row for each larger batch, of the columns `HEAD`."""
    return [_row(each, answer.replicas) for each in answer.larger]


def goodput_rows(answer: Scaling) -> list[tuple[str, ...]]:
    """Return a row for each run whose speed is known, of the columns `GOODPUT_HEAD`."""
    return [_goodput_row(each) for each in answer.goodput]


def goodput_notes(answer: Scaling) -> Iterator[str]:
    """Yield the notes on goodput, one sentence each."""
    if answer.goodput:
        yield GOODPUT_EXPLAINED
    if len(answer.goodput) > 1 and answer.best is None:
        yield "No run is clearly the best: the order changes within the noise scale's interval."
    elif len(answer.goodput) > 1:
        yield f"{answer.best} has the best goodput, at both ends of the interval."
    if answer.virtual:
        yield VIRTUAL


def share(value: float | None) -> str:
    """Return a share of one as a percentage without decimals."""
    return "unknown" if value is None else f"{value:.0%}"


def span(low: float | None, high: float | None, form: str) -> str:
    """Return an interval; empty if it is unknown."""
    if low is None:
        return ""
    if high is None:
        return f"at least {form.format(low)}"
    return f"{form.format(low)} to {form.format(high)}"


def _where(noise: NoiseScale) -> str:
    return f"after {noise.step:,} steps" if noise.step else "first weights"


def _scale(noise: NoiseScale) -> str:
    made = f"measured on {noise.batches:,} gradients of {noise.batch_size:,} examples"
    if noise.low is None:
        return f"unknown: {noise.reason}; {made}"
    if noise.high is None:
        return f"at least {noise.low:,.0f} examples (95 %): {noise.reason}; {made}"
    known = f"{noise.examples:,.0f} examples (95 %: {noise.low:,.0f} to {noise.high:,.0f})"
    return f"{known}; {made}"


def _row(each: Larger, replicas: int) -> tuple[str, ...]:
    return (
        f"{each.global_batch_size:,}" + (" (now)" if each.times == 1 else ""),
        f"{each.times * replicas:,}",
        share(each.efficiency),
        span(each.efficiency_low, each.efficiency_high, "{:.0%}"),
        *_speedup(each),
    )


def _speedup(each: Larger) -> tuple[str, str]:
    if each.times == 1:
        return "1", ""
    known = "unknown" if each.most_speedup is None else f"{each.most_speedup:.2f}"
    return known, span(each.most_speedup_low, each.most_speedup_high, "{:.2f}")


def _goodput_row(each: Goodput) -> tuple[str, ...]:
    return (
        each.name,
        f"{each.global_batch_size:,}",
        f"{each.examples_per_second:,.0f}",
        share(each.efficiency),
        "unknown" if each.goodput is None else f"{each.goodput:,.0f}",
        span(each.goodput_low, each.goodput_high, "{:,.0f}"),
    )
