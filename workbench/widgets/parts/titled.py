"""Tabs with titles that every page can read, with any ipywidgets in the kernel.

ipywidgets 7 keeps titles under a name that pages of ipywidgets 8 do not read. Colab combines the
two versions. Its kernels have ipywidgets 7.7, but its widget manager for third-party widgets is of
version 8. This manager fails at a container without titles, and then the widgets around the
container fail too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ipywidgets as ipw
import traitlets


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
    """Return tabs with these contents, by their titles; the first one is open."""
    tabs = _Tab(children=list(pages.values()), selected_index=0)
    for number, title in enumerate(pages):
        tabs.set_title(number, title)
    tabs.add_class("wb-tabs")
    return tabs
