"""The request of a comparison: its candidates, and how often and how long they are trained."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.config import ConfigError
from workbench.runs import RunError
from workbench.runs.folder.files import json_text, sha256, write_text
from workbench.runs.folder.trust import note

from .grid import Candidate

VERSION = 1
ASKED = "compare.json"


@dataclass(frozen=True)
class Request:
    """What a comparison was asked to do."""

    created: float
    """The time of the request, in seconds since 1970."""
    repeats: int
    """Runs of each candidate."""
    budget_seconds: float | None
    """The most seconds that all runs together may take; None: no limit."""
    target_accuracy: float | None
    """The accuracy for which the time to reach it is given; None: there is none."""
    drop_below: float
    """A candidate with less than this share of the best's speed is not repeated."""
    candidates: tuple[Candidate, ...]
    """The compared candidates; a candidate with a reason cannot be run here."""
    agreement: bool = False
    """Whether it is a matrix, which compares losses and weights instead of speeds."""

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        candidates = [each.to_json() for each in self.candidates]
        return {"version": VERSION, **vars(self), "candidates": candidates}

    def write(self, folder: Path) -> None:
        """Write the request into the folder of its comparison, as one of this machine."""
        text = json_text(self.to_json())
        write_text(folder / ASKED, text)
        note(folder, sha256(text))

    @classmethod
    def read(cls, folder: Path) -> Request:
        """Read the request of the comparison in a folder.

        Raises:
            RunError: the folder holds no comparison, or its request is damaged.
        """
        path = folder / ASKED
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            return cls(
                created=float(values["created"]),
                repeats=int(values["repeats"]),
                budget_seconds=_limit(values["budget_seconds"]),
                target_accuracy=_limit(values["target_accuracy"]),
                drop_below=float(values["drop_below"]),
                candidates=tuple(map(Candidate.from_json, values["candidates"])),
                agreement=bool(values.get("agreement", False)),
            )
        except (OSError, ValueError, LookupError, TypeError, AttributeError, ConfigError) as error:
            raise RunError(
                f"{path} cannot be read: {type(error).__name__}: {error}. Restore it from a copy, "
                "or delete the folder with its runs."
            ) from error


def _limit(value: Any) -> float | None:
    return None if value is None else float(value)
