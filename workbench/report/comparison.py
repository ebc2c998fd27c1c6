"""The comparison of a report's runs: intervals, significance, and one recommendation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.experiments import group_runs, make_table, recommend
from workbench.experiments.comparing.wording import HEAD, cells, used_columns

from .html import Html, section, table, tag

if TYPE_CHECKING:
    from workbench.experiments import Advice, Group, Table
    from workbench.runs import Run

NOTES = HEAD[-1]
CAPTION = "The compared runs, with 95 % intervals"
FIRST_RUNS = "All other parts of this page show the first run of each row."


@dataclass(frozen=True)
class Compared:
    """Groups of runs with their table and the recommendation."""

    groups: Sequence[Group]
    table: Table
    advice: Advice

    @property
    def first_runs(self) -> list[Run]:
        """The first run of each group that has one."""
        return [group.runs[0] for group in self.groups if group.runs]

    def html(self) -> Html:
        """Return the recommendation and the table."""
        rows = [
            cells(row, is_baseline=at == self.table.baseline)
            for at, row in enumerate(self.table.rows)
        ]
        used = used_columns(rows)
        repeated = any(len(group.runs) > 1 for group in self.groups)
        return section(
            "Comparison",
            tag("p", self.advice.sentence),
            *(tag("p", f"{note}.", class_="warning") for note in self.table.notes),
            table(
                [HEAD[at] or "Name" for at in used], [[row[at] for at in used] for row in rows],
                CAPTION,
                noted=HEAD[used[-1]] == NOTES,
            ),
            tag("p", FIRST_RUNS, class_="quiet") if repeated else None,
        )  # fmt: skip


def compared(runs: Sequence[Run]) -> Compared | None:
    """Compare runs, grouped by their script; None if there are fewer than two runs.

    Raises:
        RunError: a run's folder is missing or cannot be read.
    """
    if len(runs) < 2:
        return None
    groups = group_runs(runs)
    return Compared(groups, make_table(groups), recommend(groups))
