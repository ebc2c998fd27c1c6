"""Views of a comparison, and the rows that they show."""

from __future__ import annotations

from pathlib import Path

from tests.machines import LAPTOP
from tests.widgets.tables import rows_of
from workbench.config import RunConfig
from workbench.runs import Run
from workbench.widgets.comparison.view import ComparisonView

RATES = {"OneDevice": (1000.0, 1010.0, 990.0), "Mirrored x 2": (1500.0, 1600.0, 1450.0)}


def comparison_view(root: Path, opened: list[Run] | None = None) -> ComparisonView:
    opened_runs = [] if opened is None else opened
    return ComparisonView(root, RunConfig, lambda: LAPTOP, opened_runs.append)


def row_names(shown: ComparisonView) -> list[str]:
    """Return the names of the rows in the table."""
    return [row[0] for row in rows_of(shown._results._table.value)]
