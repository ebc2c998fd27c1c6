"""The page: its parts in order, and its style. The page loads nothing from elsewhere."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.free_path import new_path
from workbench.runs import RunError
from workbench.runs.folder.files import full_path
from workbench.version import __version__

from .comparison import Compared, compared
from .curves import curves
from .details import runs
from .environment import environments
from .html import Html, document
from .overview import configs, differences, overview
from .papers import certificates, scripts
from .subject import Subject, subjects_of

if TYPE_CHECKING:
    from workbench.runs import Run

Section = Callable[[Sequence[Subject]], Html | None]
"""A function that returns a part of the page, or None if there is nothing to show."""
FIRST: tuple[Section, ...] = (overview, differences, curves)
LAST: tuple[Section, ...] = (runs, environments, certificates, configs, scripts)
COMPARISON = "Comparison of strategies"
MOST_BYTES = 2_000_000


def write_report(
    reported: Sequence[Run],
    path: str | os.PathLike[str],
    *,
    title: str = "",
    sections: Sequence[Section] = (),
    comparison: Compared | None = None,
) -> Path:
    """Write one page of HTML about runs, completely or not at all, and return its path.

    The page needs no network and runs no code. It shows texts of runs and never interprets them.

    Args:
        reported: at least one run; an unfinished run is shown in its present state.
        path: the new file; nothing may exist there.
        title: the page's title; empty: the run's name, or the number of runs.
        sections: further parts, shown between the charts and the part about each run.
        comparison: the comparison that the runs belong to; None: several runs are compared by
            their scripts.

    Raises:
        RunError: no run is given, a run cannot be read, the page would be over 2 MB, something
            exists at the path, or the path cannot be written.
    """
    target = full_path(path)
    with new_path(target) as hidden:
        hidden.write_text(report_text(reported, title, sections, comparison), encoding="utf-8")
    return target


def write_comparison(found: Compared, path: str | os.PathLike[str]) -> Path:
    """Write one page of HTML about a comparison and the first run of each row; see `write_report`.

    Raises:
        RunError: see `write_report`.
    """
    return write_report(found.first_runs, path, title=COMPARISON, comparison=found)


def report_text(
    reported: Sequence[Run],
    title: str = "",
    sections: Sequence[Section] = (),
    comparison: Compared | None = None,
) -> str:
    """Return the page as text; see `write_report`."""
    if not reported:
        raise RunError("There is no run to report. Name a run.")
    found = comparison or compared(reported)
    first = (lambda _: found.html(),) if found else ()
    text = _page(subjects_of(reported), title, (*first, *sections))
    size = len(text.encode("utf-8"))
    if size > MOST_BYTES:
        raise RunError(
            f"A report of {len(reported)} runs would have {size:,} bytes, more than the "
            f"{MOST_BYTES:,} allowed. Report fewer runs, or export csv."
        )
    return text


def _page(subjects: Sequence[Subject], title: str, sections: Sequence[Section]) -> str:
    named = title or (subjects[0].title if len(subjects) == 1 else f"{len(subjects)} runs compared")
    parts = [part(subjects) for part in (*FIRST, *sections, *LAST)]
    written = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    about = f"Written {written} by tf-distribute-workbench {__version__}."
    return document(named, about, *parts)
