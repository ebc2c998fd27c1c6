"""Nothing from outside becomes markup; numbers read well; unknown is said."""

from __future__ import annotations

import math

import pytest

from workbench.widgets import markup

EVIL = '<img src=x onerror="alert(1)">'


@pytest.mark.parametrize(
    "made",
    [
        markup.notice("error", EVIL),
        markup.quiet(EVIL),
        markup.heading(EVIL),
        markup.pill(EVIL),
        markup.facts([(EVIL, EVIL)]),
        markup.table(EVIL, [EVIL], [[EVIL]]),
        markup.scrolling(EVIL, ""),
    ],
)
def test_text_from_outside_is_escaped(made: str) -> None:
    assert "<img" not in made
    assert '"alert' not in made


@pytest.mark.parametrize("shown", [markup.number, markup.percent, markup.duration])
@pytest.mark.parametrize("missing", [None, math.nan])
def test_what_is_not_known_is_not_a_number(shown: object, missing: float | None) -> None:
    assert callable(shown)
    assert shown(missing) == "unknown"


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (1023, "1023 bytes"),
        (1536, "1.5 KiB"),
        (3 * 2**40, "3 TiB"),
        (None, "unknown"),
    ],
)
def test_byte_sizes(size: int | None, text: str) -> None:
    assert markup.byte_size(size) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "0 s"), (59.4, "59 s"), (61, "1 min 1 s"), (3 * 3600, "3 h 0 min")]
)
def test_durations(seconds: float, text: str) -> None:
    assert markup.duration(seconds) == text


def test_numbers() -> None:
    assert markup.number(0.123456) == "0.1235"
    assert markup.number(60_000) == "60,000"
    assert markup.percent(0.8734) == "87.34%"
