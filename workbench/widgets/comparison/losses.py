"""The loss differences of a comparison, which are added to its table in the background."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.experiments.comparing.table import add_losses
from workbench.widgets.kernel.background import Latest

if TYPE_CHECKING:
    from workbench.experiments import Table

    from .snapshot import Snapshot

SETTLE_SECONDS = 1.0
"""The wait before the records are read, because the page needs the processors to draw curves."""


class LossDifferences:
    """Reads every step of the compared runs, once for each table that was made."""

    def __init__(
        self, add: Callable[[Table, Table], bool], failed: Callable[[Table, Exception], None]
    ) -> None:
        """Keep what shows the result.

        `add` gets a table and the same table with losses; `failed` gets the table and the error.
        """
        self._add, self._failed = add, failed
        self._asked: Table | None = None
        self._reading: Latest[Table] = Latest(SETTLE_SECONDS)

    def follow(self, snapshot: Snapshot | None) -> None:
        """Add the loss differences of a reading if they are due; an earlier one's are dropped."""
        if snapshot is None or not any(snapshot.due) or snapshot.table is self._asked:
            return
        table, groups = snapshot.table, snapshot.groups
        self._asked = table

        def done(found: Table) -> None:
            self._add(table, found)

        self._reading.ask(
            lambda: add_losses(table, groups),
            done,
            lambda error: self._failed(table, error),
        )

    def close(self) -> None:
        """Stop work in progress."""
        self._reading.forget()
