"""The colours of a comparison's rows: a person's choice, kept in the comparison's folder."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from workbench.pictures import drawing
from workbench.runs import RunError
from workbench.runs.folder.files import json_text, write_text
from workbench.widgets.kernel.background import Latest
from workbench.widgets.parts.page_parts import shared_layout
from workbench.widgets.static import STATIC

KEPT = "colors.json"
VERSION = 1
COLOR = re.compile(r"#[0-9a-f]{6}")


class RowColors(anywidget.AnyWidget):
    """A widget that offers a colour for each row. It takes only colours from pages and the folder.

    ipywidgets' own colour picker has no name that a screen reader could read out.
    """

    _esm = STATIC / "colors.js"
    rows: Any = traitlets.List().tag(sync=True)
    """The label and the usual colour of each shown row."""
    chosen: Any = traitlets.Dict().tag(sync=True)
    """The chosen colours, by the labels of the rows."""
    note = traitlets.Unicode().tag(sync=True)
    """Why the chosen colours are not kept; empty if they are kept."""

    def __init__(self, changed: Callable[[], None]) -> None:
        super().__init__(layout=shared_layout(visible=True))
        self._changed = changed
        self._folder: Path | None = None
        self._kept: Mapping[str, str] = {}
        self._keeping: Latest[None] = Latest()
        self.observe(self._on_chosen, "chosen")

    def follow(self, folder: Path | None) -> None:
        """Use the colours of the comparison in a folder. With None, colours are kept nowhere."""
        self._folder, self.note = folder, ""
        try:
            self._kept = read_colors(folder) if folder else {}
        except RunError as error:
            self._kept, self.note = {}, f"The default colours are shown. {error}"
        self.chosen = dict(self._kept)

    def show(self, rows: Sequence[tuple[int, str]]) -> None:
        """Offer a colour for each of these rows, given their numbers and labels."""
        self.rows = [{"label": label, "usual": drawing.color_of(at)} for at, label in rows]

    @traitlets.validate("chosen")
    def _only_colors(self, proposal: Any) -> dict[str, str]:
        return _colors(proposal["value"])

    def _on_chosen(self, _: Any) -> None:
        folder, chosen = self._folder, dict(self.chosen)
        if folder is not None and chosen != self._kept:
            self._kept = chosen
            self._keeping.ask(
                lambda: write_colors(folder, chosen), lambda _: self._say(""), self._failed
            )
        self._changed()

    def _failed(self, error: Exception) -> None:
        self._say(f"The colours are not saved: they last until this notebook is closed. {error}")

    def _say(self, note: str) -> None:
        self.note = note


def read_colors(folder: Path) -> dict[str, str]:
    """Return the colours that were chosen for a comparison's rows.

    Raises:
        RunError: the colours cannot be read.
    """
    path = folder / KEPT
    try:
        values = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        return _colors(values.get("colors"))
    except (OSError, ValueError, AttributeError) as error:
        raise RunError(
            f"The chosen colours cannot be read from {path}: {error}. Remove that file, then "
            "choose the colours again."
        ) from error


def write_colors(folder: Path, chosen: Mapping[str, str]) -> None:
    """Keep the colours of a comparison's rows.

    Raises:
        RunError: the folder cannot be written.
    """
    write_text(folder / KEPT, json_text({"version": VERSION, "colors": dict(chosen)}))


def _colors(values: object) -> dict[str, str]:
    """Return only the valid colours, because colours go into pictures unchanged."""
    pairs = values.items() if isinstance(values, Mapping) else ()
    return {
        str(label): color
        for label, color in pairs
        if isinstance(color, str) and COLOR.fullmatch(color)
    }
