"""A part of a page that opens and closes at its title, by pointer or keyboard."""

from __future__ import annotations

from typing import Any

import ipywidgets as ipw

from .page_parts import set_visible, styled


class Fold:
    """A title, and a body that is shown only while the fold is open.

    The title is a toggle button, because the titles of ipywidgets' Accordion cannot be reached by
    the keyboard. The style sheet hides the body, so a fold opens even while the kernel is busy.
    """

    def __init__(self, title: str, *inside: Any, opened: bool = False) -> None:
        self._title = styled(
            ipw.ToggleButton, "wb-fold-title", description=title, tooltip=title, value=opened,
        )  # fmt: skip
        body = styled(ipw.VBox, "wb-fold-body", children=inside)
        self.box = styled(ipw.VBox, "wb-fold", children=[self._title, body])

    @property
    def title(self) -> str:
        """The text of the title."""
        return str(self._title.description)

    @title.setter
    def title(self, title: str) -> None:
        if title != self._title.description:
            self._title.description = self._title.tooltip = title

    @property
    def opened(self) -> bool:
        """Whether the body is shown."""
        return bool(self._title.value)

    @opened.setter
    def opened(self, opened: bool) -> None:
        self._title.value = opened

    def show(self, visible: bool) -> None:
        """Show the fold, or hide it with its title."""
        set_visible(self.box, visible=visible)
