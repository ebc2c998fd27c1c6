"""Tests of readable numbers; an unknown number is shown as unknown."""

from __future__ import annotations

import math

import pytest

from workbench import units


@pytest.mark.parametrize("shown", [units.number, units.percent, units.duration])
@pytest.mark.parametrize("missing", [None, math.nan])
def test_a_missing_number_is_unknown(shown: object, missing: float | None) -> None:
    assert callable(shown)
    assert shown(missing) == "unknown"


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (1023, "1023 bytes"),
        (1536, "1.5 KiB"),
        (int(999.9 * 2**20), "999 MiB"),
        (2**30 - 1, "1023 MiB"),
        (3 * 2**40, "3 TiB"),
        (None, "unknown"),
    ],
)
def test_byte_sizes_have_binary_units(size: int | None, text: str) -> None:
    assert units.byte_size(size) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.25, "0.25 s"),
        (3.14, "3.1 s"),
        (59.4, "59 s"),
        (61, "1 min 1 s"),
        (3 * 3600, "3 h 0 min"),
    ],
)
def test_durations_have_at_most_two_units(seconds: float, text: str) -> None:
    assert units.duration(seconds) == text


def test_numbers_are_rounded() -> None:
    assert units.number(0.123456) == "0.1235"
    assert units.number(60_000) == "60,000"
    assert units.percent(0.8734) == "87.34%"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (2.5, "2.5 s"), (0.0123, "12.3 ms"), (4.56e-5, "45.6 µs"), (-0.002, "-2 ms")],
)
def test_a_short_time_has_the_unit_that_is_easiest_to_read(value: float, text: str) -> None:
    assert units.short_time(value) == text
