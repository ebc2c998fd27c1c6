"""The pages that examine the opened run, each in its own tab."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import ipywidgets as ipw

from workbench.widgets.kernel.page_order import keep_order
from workbench.widgets.parts import markup
from workbench.widgets.parts.later import Later
from workbench.widgets.parts.page_parts import html, set_visible, styled
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
    """The pages about the opened run, offered once it is not queued or starting any more.

    Each page is made when its tab is first opened.
    """

    def __init__(self, pages: Mapping[str, Callable[[], RunPage]]) -> None:
        self._pages = {title: Later(self._maker(kind)) for title, kind in pages.items()}
        self._now: tuple[Run | None, str] = (None, "")
        """The run and its status that the pages show."""
        self._turn = threading.RLock()
        self.box = styled(ipw.VBox, "wb-section", visible=False)

    def show(self, run: Run | None, status: str) -> None:
        """Follow the opened run."""
        started = None if status in BEFORE_ANY_STEP else run
        with self._turn:
            self._now = (started, status)
            if started is not None and not self.box.children:
                self._offer()
            for page in self._pages.values():
                if page.made is not None:
                    page.made.show(started, status)
            set_visible(self.box, visible=started is not None)

    def _offer(self) -> None:
        title = html(markup.heading("A closer look"), description="Section")
        self.box.children = [title, tabs_of(self._pages)]
        keep_order(self.box)

    def _maker(self, kind: Callable[[], RunPage]) -> Callable[[], RunPage]:
        def make() -> RunPage:
            with self._turn:
                page = kind()
                page.show(*self._now)
                keep_order(page.box)
                return page

        return make
