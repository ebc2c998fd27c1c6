"""Times as text."""

import pytest

from workbench.verdict import times


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (2.5, "2.5 s"), (0.0123, "12.3 ms"), (4.56e-5, "45.6 µs"), (-0.002, "-2 ms")],
)
def test_a_time_has_the_unit_that_is_easiest_to_read(value: float, text: str) -> None:
    assert times.seconds(value) == text
