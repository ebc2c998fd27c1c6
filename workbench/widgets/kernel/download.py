"""Download: a file of the kernel's machine, sent to the page in parts."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from workbench.widgets.static import STATIC

from .background import run_in_background

PART_BYTES = 4 * 2**20
CHANGED = "The file has changed. Click again to download the new content."
NOTHING = "There is nothing to download any more. Open the run again, then click."


class DownloadWidget(anywidget.AnyWidget):
    """A widget that makes the offered file in the background and sends parts of it to pages.

    Only the page that asked takes the file. A page that receives nothing asks again. The file
    stays in its place, for hosts whose pages cannot download.
    """

    _esm = STATIC / "download.js"
    label = traitlets.Unicode().tag(sync=True)
    tip = traitlets.Unicode().tag(sync=True)

    def __init__(self, label: str, tip: str) -> None:
        """`tip` describes the content of the file."""
        super().__init__(label=label, tip=tip, layout={"display": "none"})
        self._make: Callable[[], Path] | None = None
        self._place: Path | None = None
        self._packed: dict[str, tuple[Path, tuple[int, int]]] = {}
        """The file that each page knows, with its size (bytes) and time of change (nanoseconds)."""
        self.on_msg(self._on_message)
        self.offer(None)

    def offer(self, make: Callable[[], Path] | None, place: Path | None = None) -> None:
        """Offer the file that `make` returns, or no file, instead of the earlier file.

        Args:
            make: called at each click; writes the file if it does not exist yet.
            place: the place of the file's content on this machine; None means the file itself.
        """
        self._make, self._place = make, place
        self.layout.display = "none" if make is None else None

    def _on_message(self, _: Any, content: dict[str, Any], __: Any) -> None:
        if content.get("kind") == "pack":
            self._pack(str(content["view"]))
        elif content.get("kind") == "part":
            self._give(str(content["view"]), int(content["from"]))

    def _pack(self, view: str) -> None:
        make, place = self._make, self._place
        if make is None:
            self._refuse(view, NOTHING)
            return
        self.send({"kind": "packing", "view": view})
        run_in_background(
            lambda: _made(make),
            lambda made: self._send_packed(view, *made, place),
            lambda error: self._refuse(view, str(error)),
        )

    def _send_packed(
        self, view: str, path: Path, known: tuple[int, int], place: Path | None
    ) -> None:
        self._packed[view] = path, known
        facts = {"name": path.name, "path": str(place or path), "size": known[0]}
        self.send({"kind": "packed", "view": view, **facts})

    def _give(self, view: str, start: int) -> None:
        if view not in self._packed:
            self._refuse(view, CHANGED)
            return
        path, known = self._packed[view]
        try:
            with path.open("rb") as file:
                if _state_of(os.fstat(file.fileno())) != known:
                    self._refuse(view, CHANGED)
                    return
                file.seek(start)
                part = file.read(PART_BYTES)
        except OSError as error:
            self._refuse(view, f"{path} could not be read: {error}. Click again.")
            return
        self.send({"kind": "part", "view": view, "from": start}, [part])

    def _refuse(self, view: str, text: str) -> None:
        self.send({"kind": "refused", "view": view, "text": text})


def _made(make: Callable[[], Path]) -> tuple[Path, tuple[int, int]]:
    path = make()
    return path, _state_of(path.stat())


def _state_of(found: os.stat_result) -> tuple[int, int]:
    return found.st_size, found.st_mtime_ns
