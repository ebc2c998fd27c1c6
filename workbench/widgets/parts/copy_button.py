"""A button that copies a shown text in the page, without the kernel."""

from __future__ import annotations

import anywidget

from workbench.widgets.static import STATIC

COPIED = "wb-copied"
"""The class of the box that holds the button and the text."""


class CopyButton(anywidget.AnyWidget):
    """A button that copies the text of the first `<pre>` in its box of class `COPIED`.

    In a page that may not write to the clipboard, it selects the text and names the keys to press.
    """

    _esm = STATIC / "copy.js"

    def __init__(self) -> None:
        super().__init__(_dom_classes=("wb-copy",))
