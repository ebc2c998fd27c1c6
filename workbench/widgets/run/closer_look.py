"""The pages that examine the opened run, each in its own tab."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import ipywidgets as ipw

from workbench.widgets.kernel.page_order import keep_order
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import html, styled
from workbench.widgets.parts.titled import tabs_of

if TYPE_CHECKING:
    from workbench.runs import Run

BEFORE_ANY_STEP = ("queued", "starting")


class RunPage(Protocol):
    """A page about one run. It is informed often of the opened run and its status."""

    box: Any

    def show(self, run: Run | None, status: str) -> None:
        """Show a run, or no run. If the run is the same as before, use only its new status."""


class CloserLook:
    """The pages about the opened run. They are made once it is not queued or starting any more."""

    def __init__(self, pages: Mapping[str, Callable[[], RunPage]]) -> None:
        self._kinds = pages
        self._pages: list[RunPage] = []
        self._making = threading.Lock()
        self.box = styled(ipw.VBox, "wb-section")
        self.show(None, "")

    def show(self, run: Run | None, status: str) -> None:
        """Follow the opened run."""
        started = None if status in BEFORE_ANY_STEP else run
        with self._making:
            if started is not None and not self._pages:
                self._make()
        for page in self._pages:
            page.show(started, status)
        self.box.layout.display = None if started else "none"

    def _make(self) -> None:
        self._pages = [make() for make in self._kinds.values()]
        boxes = [page.box for page in self._pages]
        tabs = tabs_of(dict(zip(self._kinds, boxes, strict=True)))
        title = html(markup.heading("A closer look"), description="Section")
        self.box.children = [title, tabs]
        keep_order(self.box)
