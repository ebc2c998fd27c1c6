"""The orders of a comparison's rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.experiments import Row, Table

SORTS: Mapping[str, Callable[[Row], float | None]] = {
    "speed": lambda row: _negative(row.examples_per_second),
    "goodput": lambda row: _negative(row.goodput or row.goodput_low),
    "loss": lambda row: row.loss,
    "test loss": lambda row: row.test_loss,
    "accuracy": lambda row: _negative(row.last_accuracy),
    "time to the target": lambda row: row.target_seconds,
    "memory": lambda row: row.peak_host_bytes,
}
"""A value of a row by the name of the order; the smaller the value, the better. None is unknown."""


def in_order(table: Table, numbers: Sequence[int], sort: str, *, turned: bool) -> list[int]:
    """Return the numbers of rows with the best first; `turned`: with the worst first.

    Rows whose value is unknown come last in both. An empty `sort` keeps the order of the table.
    """
    if not sort:
        return sorted(numbers, reverse=turned)
    values = {at: SORTS[sort](table.rows[at]) for at in numbers}
    known = {at: value for at, value in values.items() if value is not None}
    ordered = sorted(known, key=lambda at: known[at], reverse=turned)
    return [*ordered, *(at for at in numbers if at not in known)]


def _negative(value: float | None) -> float | None:
    return None if value is None else -value
