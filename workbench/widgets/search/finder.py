"""The view that finds a batch size and a learning rate, one search at a time."""

from __future__ import annotations

import ipywidgets as ipw

from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import html, styled

from .batch_finder import BatchFinderView
from .rate_test import RateTestView
from .view import SearchContext

ABOUT = (
    "Trials on this machine find both. Start with the batch size: the learning rate depends on it."
)


class FinderView:
    """The two searches, one below the other."""

    def __init__(self, context: SearchContext) -> None:
        self.batch, self.rate = BatchFinderView(context), RateTestView(context)
        self.batch.on_busy(lambda busy: self.rate.allow(not busy))
        self.rate.on_busy(lambda busy: self.batch.allow(not busy))
        title = html(
            markup.heading("Which batch size, which learning rate?") + markup.quiet(ABOUT),
            description="Section",
        )
        self.box = styled(
            ipw.VBox, "wb-section", "wb-spaced", children=[title, self.batch.box, self.rate.box]
        )

    def close(self) -> None:
        """Ask the running search to end."""
        self.batch.close()
        self.rate.close()
