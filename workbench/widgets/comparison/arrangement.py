"""The arrangement of a comparison's view: a person's choices, kept in the comparison's folder."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from workbench.runs import RunError
from workbench.runs.folder.files import json_text, write_text
from workbench.widgets.kernel.background import Latest

from .snapshot import FIRST
from .sorting import SORTS

KEPT = "view.json"
VERSION = 1
MEASURES = {"loss": "Loss", "accuracy": "Accuracy", "rate": "Examples per second"}
ALONG = {
    "step": "steps",
    "examples": "examples seen",
    "training_seconds": "seconds of training",
}
OFFERED: Mapping[str, Collection[str]] = {
    "sort": ("", *SORTS),
    "measure": MEASURES,
    "along": ALONG,
}


@dataclass(frozen=True)
class Arrangement:
    """The choices of a person in the view of a comparison."""

    baseline: str = FIRST
    """The label of a row, or `FIRST`."""
    sort: str = ""
    """A key of `SORTS`; empty: as listed."""
    turned: bool = False
    """Whether the order is turned: the worst row first. Rows as listed cannot be turned."""
    only: str = ""
    """A part of the names of the shown rows."""
    measure: str = "loss"
    along: str = "step"
    added: tuple[str, ...] = ()
    """The folders of the added runs, relative to the folder that holds the comparison."""


class KeptArrangement:
    """The arrangement of the comparison that a view shows, kept after each choice."""

    def __init__(self, say: Callable[[str], None]) -> None:
        """`say` shows why the arrangement is not kept; empty if it is."""
        self._say = say
        self._folder: Path | None = None
        self._kept = Arrangement()
        self._keeping: Latest[None] = Latest()

    def follow(self, folder: Path, chosen: Arrangement | None) -> Arrangement:
        """Return the arrangement of the comparison in a folder; `chosen` replaces the kept one."""
        self._folder, self._kept = folder, Arrangement()
        self._say("")
        if chosen is not None:
            self.keep(chosen)
            return chosen
        try:
            self._kept = read_arrangement(folder)
        except RunError as error:
            self._folder = None  # a damaged file may hold what the person wants back
            self._say(f"The default view is shown, and changes to it are not saved. {error}")
        return self._kept

    def keep(self, arrangement: Arrangement) -> None:
        """Write the arrangement in the background, if it has changed."""
        folder = self._folder
        if folder is None or arrangement == self._kept:
            return
        self._kept = arrangement
        self._keeping.ask(
            lambda: write_arrangement(folder, arrangement), lambda _: self._say(""), self._failed
        )

    def _failed(self, error: Exception) -> None:
        self._say(f"This view is not saved: it lasts until the notebook is closed. {error}")


def read_arrangement(folder: Path) -> Arrangement:
    """Return the arrangement in which a person left a comparison.

    Raises:
        RunError: it cannot be read.
    """
    path = folder / KEPT
    try:
        return _checked(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return Arrangement()
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise RunError(
            f"The saved view cannot be read from {path}: {error}. Correct or remove that file, "
            "then open the comparison again."
        ) from error


def write_arrangement(folder: Path, arrangement: Arrangement) -> None:
    """Keep the arrangement of a comparison.

    Raises:
        RunError: the folder cannot be written.
    """
    write_text(folder / KEPT, json_text({"version": VERSION, **asdict(arrangement)}))


def folders_of(added: Sequence[str], comparison: Path) -> list[Path]:
    """Return the folders of added runs from their kept form; see `Arrangement.added`."""
    return [Path(os.path.normpath(comparison.parent / each)) for each in added]


def kept_form(folders: Sequence[Path], comparison: Path) -> tuple[str, ...]:
    """Return the folders of added runs in the form in which they are kept.

    It stays true if the folder of runs is moved or copied as a whole.
    """
    return tuple(os.path.relpath(folder, comparison.parent) for folder in folders)


def _checked(values: Any) -> Arrangement:
    """Return an arrangement from JSON values.

    Raises:
        LookupError, TypeError, ValueError: a value is missing or not one of those offered.
    """
    if values["version"] != VERSION:
        raise ValueError(f"its version is {values['version']}, and this workbench reads {VERSION}")
    texts = {name: values[name] for name in ("baseline", "sort", "only", "measure", "along")}
    added, turned = values["added"], values["turned"]
    if not isinstance(turned, bool):
        raise ValueError(f"turned is {turned!r}")
    for name, value in [*texts.items(), *(("added", each) for each in added)]:
        if not isinstance(value, str) or value not in OFFERED.get(name, (value,)):
            raise ValueError(f"{name} is {value!r}")
    return Arrangement(**texts, turned=turned, added=tuple(added))
