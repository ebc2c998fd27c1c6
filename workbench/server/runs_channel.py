"""The runs of a folder as rows: first all rows, then the changed rows."""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path
from typing import Any

from workbench.feed import row_of
from workbench.feed.row import UNREADABLE
from workbench.runs.folder.files import holds_a_run, visible_names

from .channel import Channel, Listener
from .folder import RunsFolder
from .frames import packed

AT_ONCE = 64
"""Rows in one message, so that a page shows the first rows while the last are still read."""

Row = dict[str, Any]


class RunsChannel(Channel):
    """A channel that follows the runs of one folder.

    A run that has ended is read again only when its events file changes.
    """

    def __init__(self, folder: RunsFolder, asked: str) -> None:
        """`asked` is the pages' name for the folder."""
        super().__init__()
        self._folder, self._asked = folder, asked
        self._rows: dict[str, Row] = {}
        self._seen: dict[str, object] = {}
        self._whole = False
        """Whether each run has been read once."""

    def greet(self, listener: Listener) -> None:
        listener(self._packed(list(self._rows.values()), [], first=True))

    def poll(self) -> float:
        root = self._folder.path
        today = date.today()  # titles have the dates of other days
        stamps = {name: (today, _stamp(f"{root}{os.sep}{name}")) for name in visible_names(root)}
        due = [name for name, stamp in stamps.items() if not self._rests(name, stamp)]
        there = {name for name in due if holds_a_run(root / name)}
        gone = self._forget({*self._rows} - ({*stamps} - {*due}) - there)
        changed: list[Row] = []
        for name in sorted(there, reverse=True):
            changed += self._news_of(root / name, stamps[name])
            if len(changed) >= AT_ONCE:
                self._send_rows(changed, gone)
                changed, gone = [], []
        first, self._whole = not self._whole, True
        if changed or gone or first:
            self._send_rows(changed, gone)
        return self.pause_seconds

    def failed(self, error: Exception) -> None:
        self._whole = False
        self.send(packed({"channel": "runs", "folder": self._asked, "error": str(error)}))

    def _rests(self, name: str, stamp: object) -> bool:
        """Return whether a run had ended when it was read, with no change to its events since."""
        before = self._rows.get(name)
        if before is None or before["alive"] or before["status"] == UNREADABLE:
            return False
        return self._seen.get(name) == stamp

    def _forget(self, gone: set[str]) -> list[str]:
        """Remove the rows of missing runs; return their names."""
        with self.guard:
            for name in gone:
                del self._rows[name]
                self._seen.pop(name, None)
        return sorted(gone)

    def _news_of(self, path: Path, stamp: object) -> list[Row]:
        row = row_of(self._folder.listed(path.name))
        if not path.exists():
            return []  # it was deleted while it was read
        self._seen[path.name] = stamp
        return [row] if row != self._rows.get(path.name) else []

    def _send_rows(self, changed: list[Row], gone: list[str]) -> None:
        with self.guard:
            self._rows |= {row["id"]: row for row in changed}
            self.send(self._packed(changed, gone, first=False))

    def _packed(self, rows: list[Row], gone: list[str], *, first: bool) -> str | bytes:
        content = {"rows": rows, "gone": gone, "first": first, "whole": self._whole}
        named = {"channel": "runs", "folder": self._asked, "path": str(self._folder.path)}
        return packed({**named, **content})


def _stamp(path: str) -> object:
    """Return a value that changes when a run is resumed, or when another folder takes its name.

    It is computed for each run every second, so it uses a string path: that costs a third of a
    `Path`.
    """
    try:
        events = os.stat(f"{path}{os.sep}events.jsonl")  # noqa: PTH116
    except OSError:
        return None
    return events.st_mtime_ns, events.st_size, events.st_ino
