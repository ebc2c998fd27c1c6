"""Views of a comparison, and the rows that they show."""

from __future__ import annotations

import re
from pathlib import Path

from tests.machines import LAPTOP
from workbench.config import RunConfig
from workbench.runs import Run
from workbench.widgets.comparison.view import ComparisonView

RATES = {"OneDevice": (1000.0, 1010.0, 990.0), "Mirrored x 2": (1500.0, 1600.0, 1450.0)}


def view(root: Path, opened: list[Run] | None = None) -> ComparisonView:
    opened_runs = [] if opened is None else opened
    return ComparisonView(root, RunConfig, lambda: LAPTOP, opened_runs.append)


def rows_of(shown: str) -> list[list[str]]:
    rows = re.findall(r"<tr>(.*?)</tr>", shown)[1:]
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in rows]


def names(shown: ComparisonView) -> list[str]:
    """Return the names of the rows in the table."""
    return [row[0] for row in rows_of(shown._results._table.value)]
