"""The places of all views on the page: the form beside the tabs, or above them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ipywidgets as ipw

from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import html, styled
from workbench.widgets.parts.titled import tabs_of
from workbench.widgets.run import saved_output

STYLE = Path(__file__).with_name("workbench.css")
SETTINGS = "Change settings"
FOLDED = "wb-folded"
"""The class of a page that shows one line instead of the form if it is narrow."""


@dataclass(frozen=True)
class Places:
    """The widgets by place: hardware on top, a bar that stays in sight, settings below it, tabs."""

    hardware: Any
    bar: Sequence[Any]
    below: Sequence[Any]
    tabs: Mapping[str, Any]
    """The content of each tab, by its title: a widget or a `Later`."""


class Page:
    """The page of a workbench. The style sheet puts the form beside the tabs if there is room.

    Without that room, the form folds to one line when the opened run comes alive. It stays folded
    after the run, so that nothing moves, until a person unfolds it.
    """

    def __init__(self, places: Places, token: str) -> None:
        style = f"<style>{STYLE.read_text(encoding='utf-8')}</style>"
        style += saved_output.hiding_style(token)
        title = html(style + markup.heading("Workbench", 1), description="Workbench")
        head = styled(ipw.Box, "wb-lead", children=[title, places.hardware])
        self._unfolded = styled(
            ipw.ToggleButton, "wb-fold-title", "wb-unfold", description=SETTINGS,
            tooltip=SETTINGS,
        )  # fmt: skip
        self._unfolded.observe(self._on_unfolded, "value")
        bar = styled(ipw.VBox, "wb-bar", children=[self._unfolded, *places.bar])
        form = styled(ipw.VBox, "wb-form", children=[bar, *places.below])
        self._titles = list(places.tabs)
        self._tabs = tabs_of(places.tabs)
        body = styled(ipw.Box, "wb-body", children=[form, self._tabs])
        self.root = styled(ipw.VBox, "wb-root", f"wb-live-{token}", children=[head, body])
        self._alive = False

    def turn_to(self, title: str) -> None:
        """Show the tab with this title."""
        self._tabs.selected_index = self._titles.index(title)

    def show_alive(self, alive: bool) -> None:
        """Follow whether the opened run is alive."""
        if alive == self._alive:
            return
        self._alive = alive
        if alive:
            self._unfolded.value = False
            self.root.add_class(FOLDED)
        elif self._unfolded.value:
            self.unfold()

    def unfold(self) -> None:
        """Show the form again."""
        self.root.remove_class(FOLDED)

    def _on_unfolded(self, _: Any) -> None:
        if not self._alive:
            self.unfold()
