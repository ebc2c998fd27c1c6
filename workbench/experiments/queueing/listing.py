"""The comparisons of a folder of runs, also those that cannot be read."""

from __future__ import annotations

import os
from pathlib import Path

from workbench.runs import RunError
from workbench.runs.folder.files import runs_root

from .comparison import Comparison
from .request import ASKED, Request


class UnreadableComparison(Comparison):
    """A comparison whose request is damaged; access to the request raises the reason."""

    def __init__(self, folder: Path, why: RunError) -> None:
        self.folder, self.why = folder, str(why)

    @property
    def request(self) -> Request:
        raise RunError(self.why)


def list_comparisons(runs_dir: str | os.PathLike[str] | None = None) -> list[Comparison]:
    """Return all comparisons of a folder of runs, newest first.

    One whose request is damaged is an `UnreadableComparison`.
    """
    found = sorted(runs_root(runs_dir).glob(f"compare-*/{ASKED}"), reverse=True)
    return [_listed(path.parent) for path in found]


def _listed(folder: Path) -> Comparison:
    try:
        return Comparison(folder)
    except RunError as error:
        return UnreadableComparison(folder, error)
