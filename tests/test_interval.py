"""Student's t, which makes intervals of few repeats as wide as necessary."""

import pytest

from workbench.interval import student_t


@pytest.mark.parametrize(
    ("freedom", "expected"),
    [(1, 12.7062), (2, 4.3027), (3, 3.1824), (4, 2.7764), (9, 2.2622), (30, 2.0423), (1e3, 1.9623)],
)
def test_students_t_has_the_values_of_the_tables(freedom: float, expected: float) -> None:
    assert student_t(freedom) == pytest.approx(expected, abs=1e-3)
