"""The orders of a comparison's rows: by the values of one column."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.widgets.parts.markup import SortHead

if TYPE_CHECKING:
    from workbench.experiments import Row, Table


@dataclass(frozen=True)
class Sort:
    """The values by which rows are sorted."""

    column: str
    """The head of their column."""
    value: Callable[[Row], Any]
    """The value of a row, a number or a text; None is unknown."""
    greatest_first: bool = False
    """Whether the greatest value is the best, which comes first."""


NAME = "name"
SORTS: Mapping[str, Sort] = {
    NAME: Sort("Name", lambda row: row.label.casefold()),
    "batch": Sort("Batch", lambda row: row.global_batch_size),
    "speed": Sort("Examples/s (95 %)", lambda row: row.examples_per_second, True),
    "goodput": Sort("Goodput (95 %)", lambda row: row.goodput or row.goodput_low, True),
    "speed-up": Sort("Speed-up (95 %)", lambda row: row.speed_up, True),
    "efficiency": Sort("Efficiency", lambda row: row.scaling_efficiency, True),
    "median step": Sort("Median step", lambda row: row.step_seconds_median),
    "95th percentile": Sort("95th percentile", lambda row: row.step_seconds_p95),
    "memory": Sort("Host memory", lambda row: row.peak_host_bytes),
    "device memory": Sort("Device memory", lambda row: row.peak_device_bytes),
    "loss": Sort("Loss", lambda row: row.loss),
    "test loss": Sort("Test loss", lambda row: row.test_loss),
    "accuracy": Sort("Accuracy", lambda row: row.last_accuracy, True),
    "time to the target": Sort("To target", lambda row: row.target_seconds),
    "loss difference": Sort("Largest loss difference", lambda row: row.max_loss_difference),
}


@dataclass(frozen=True)
class Order:
    """The order of the rows."""

    sort: str = ""
    """A key of `SORTS`; empty: as listed."""
    turned: bool = False
    """Whether the worst row is on top."""

    @property
    def ends(self) -> tuple[str, str]:
        """The words for the row on top, if the order is not turned and if it is."""
        return ("first", "last") if self.sort in ("", NAME) else ("best", "worst")

    @property
    def falls(self) -> bool:
        """Whether the values fall from the top."""
        return SORTS[self.sort].greatest_first != self.turned

    def after_click(self, sort: str) -> Order:
        """Return the order after a click on the head of a column.

        The first click on a column puts the best on top, the second turns the order, and the third
        shows the rows as listed.
        """
        if sort != self.sort:
            return Order(sort)
        return Order() if self.turned else Order(sort, turned=True)

    def of(self, table: Table, numbers: Sequence[int]) -> list[int]:
        """Return the numbers of rows in this order; rows with an unknown value come last."""
        if not self.sort:
            return sorted(numbers)
        values = {at: SORTS[self.sort].value(table.rows[at]) for at in numbers}
        known = [at for at in numbers if values[at] is not None]
        ordered = sorted(known, key=lambda at: values[at], reverse=self.falls)
        return [*ordered, *(at for at in numbers if values[at] is None)]

    @property
    def heads(self) -> dict[str, SortHead]:
        """The head of each column that can be sorted, by its text."""
        return {each.column: self._head(sort) for sort, each in SORTS.items()}

    def _head(self, sort: str) -> SortHead:
        if sort != self.sort:
            return SortHead(sort, f"Sort: {Order(sort).ends[0]} on top")
        turn = f"Reverse the order: {self.ends[1]} on top"
        return SortHead(
            sort,
            "Restore the original order" if self.turned else turn,
            "descending" if self.falls else "ascending",
        )
