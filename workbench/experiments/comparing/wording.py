"""A row of a comparison in words, for the terminal and for pages."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.interval import Interval

from .rows import Row

HEAD = (
    *("", "Batch", "Examples/s (95 %)", "Goodput (95 %)", "Speed-up (95 %)", "Efficiency"),
    *("Median step", "95th percentile"),
    *("Host memory", "Device memory", "Loss", "Test loss", "Accuracy", "To target"),
    *("Largest loss difference", "Notes"),
)

ALWAYS_SHOWN = 3
"""Name, batch and speed."""


def cells(row: Row, *, is_baseline: bool) -> list[str]:
    """Return a text for each column of `HEAD`; empty is unknown."""
    notes = [*row.notes, *(["no significant difference"] if row.differs is False else [])]
    return [
        row.label,
        row.batch,
        _around(row.examples_per_second, row.examples_per_second_interval, ",.0f"),
        _goodput(row),
        "baseline" if is_baseline else _around(row.speed_up, row.speed_up_interval, ".2f"),
        _shown(row.scaling_efficiency, "{:.0%}"),
        _milliseconds(row.step_seconds_median),
        _milliseconds(row.step_seconds_p95),
        _mebibytes(row.peak_host_bytes),
        _mebibytes(row.peak_device_bytes),
        _three_digits(row.loss),
        _three_digits(row.test_loss),
        _shown(row.last_accuracy, "{:.2%}"),
        _shown(row.target_seconds, "{:.2f} s"),
        "0" if row.max_loss_difference == 0 else _shown(row.max_loss_difference, "{:.1e}"),
        "; ".join(notes),
    ]


def used_columns(rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the numbers of the columns to show: the first three, and all that have a text."""
    columns = zip(*rows, strict=True)
    return [at for at, texts in enumerate(columns) if at < ALWAYS_SHOWN or any(texts)]


def _around(value: float | None, interval: Interval | None, form: str) -> str:
    """Return a value with its interval, such as `1.52 (1.37 to 1.67)`; empty is unknown."""
    if value is None:
        return ""
    ends = f" ({interval.low:{form}} to {interval.high:{form}})" if interval else ""
    return f"{value:{form}}{ends}"


def _goodput(row: Row) -> str:
    """Return the goodput with the ends of its interval that are known; empty is unknown."""
    if row.goodput is None or row.goodput_high is None:
        return "" if row.goodput_low is None else f"at least {row.goodput_low:,.0f}"
    return f"{row.goodput:,.0f} ({row.goodput_low:,.0f} to {row.goodput_high:,.0f})"


def _shown(value: float | None, form: str) -> str:
    return "" if value is None else form.format(value)


def _three_digits(value: float | None) -> str:
    """Return three significant digits with their zeros, so that a column is aligned."""
    if value is None:
        return ""
    if 1e-3 <= abs(value) < 999.5:
        return f"{value:#.3g}".removesuffix(".")
    return f"{float(f'{value:.3g}'):,g}"


def _mebibytes(size: float | None) -> str:
    return "" if size is None else f"{size / 2**20:,.0f} MiB"


def _milliseconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{1e3 * seconds:.3g} ms"
