"""The heads of a table as buttons: the page tells the kernel which one was clicked."""

from __future__ import annotations

from collections.abc import Callable

import anywidget

from workbench.widgets.static import STATIC

from .page_parts import shared_layout

SORTED = "wb-sorted"
"""The class of the box that holds the table and its `TableHeads`."""


class TableHeads(anywidget.AnyWidget):
    """Clicks on the heads of a table, which is HTML in the same box of class `SORTED`.

    The heads are made by `markup.SortHead`. This widget shows nothing itself.
    """

    _esm = STATIC / "heads.js"

    def __init__(self, clicked: Callable[[str], None]) -> None:
        """`clicked` gets the name of the order that a head asks for."""
        super().__init__(layout=shared_layout(visible=False))
        self.on_msg(lambda _, content, __: clicked(content["sort"]))
