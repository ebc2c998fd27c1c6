"""Runs as a page of HTML."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.report import report_text

if TYPE_CHECKING:
    from workbench.runs import Run

    from .formats import OnProgress


def write_html(runs: Sequence[Run], path: Path, on_progress: OnProgress) -> None:
    """Write the report of runs."""
    path.write_text(report_text(runs), encoding="utf-8")
    on_progress(len(runs), len(runs))
