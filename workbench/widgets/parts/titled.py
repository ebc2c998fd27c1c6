"""Tabs with titles that every page can read, with any ipywidgets in the kernel.

ipywidgets 7 keeps titles under a name that pages of ipywidgets 8 do not read. Colab combines the
two versions. Its kernels have ipywidgets 7.7, but its widget manager for third-party widgets is of
version 8. This manager fails at a container without titles, and then the widgets around the
container fail too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import ipywidgets as ipw
import traitlets

from workbench.widgets.kernel.page_order import keep_own_order

from .later import Later
from .page_parts import styled


class _Titled(traitlets.HasTraits):
    """A container that sends its titles also under the name that ipywidgets 8 uses."""

    titles = traitlets.List(traitlets.Unicode()).tag(sync=True)

    def set_title(self, index: int, title: str) -> None:
        """Set the title of one tab."""
        super().set_title(index, title)  # type: ignore[misc]
        missing = [""] * (index + 1 - len(self.titles))
        titles = [*self.titles, *missing]
        titles[index] = title
        self.titles = titles


class _TitledTab(_Titled, ipw.Tab):  # type: ignore[misc]
    """Tabs of ipywidgets 7."""


_Tab: Any = ipw.Tab if hasattr(ipw.Tab, "titles") else _TitledTab


def tabs_of(pages: Mapping[str, Any]) -> Any:
    """Return tabs with these contents, by their titles; the first one is open.

    A content is a widget, or a `Later` whose view is made when its tab is first opened, even while
    a cell runs.
    """
    contents = list(pages.values())
    boxes = [each.box if isinstance(each, Later) else each for each in contents]
    tabs = styled(_Tab, "wb-tabs", children=boxes, selected_index=0, **_titles_of(pages))

    def show(change: Any) -> None:
        opened = contents[change["new"]]
        if isinstance(opened, Later):
            opened.show()

    tabs.observe(show, "selected_index")
    show({"new": 0})
    keep_own_order(tabs)
    return tabs


def _titles_of(pages: Iterable[str]) -> dict[str, Any]:
    """Return the titles as traits of `_Tab`."""
    titles: dict[str, Any] = {"titles": list(pages)}
    if _Tab is _TitledTab:
        titles["_titles"] = {str(number): title for number, title in enumerate(pages)}
    return titles
