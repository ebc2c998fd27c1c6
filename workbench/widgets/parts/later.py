"""A place whose content is made when it is first shown, so that a page opens with few messages."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

import ipywidgets as ipw

from workbench.widgets.kernel.background import as_the_cell

from .page_parts import styled


class View(Protocol):
    """A view with its widget."""

    box: Any


V = TypeVar("V", bound=View)


class Later(Generic[V]):
    """A box that gets its view at the first `show`."""

    def __init__(
        self, make: Callable[[], V], again: Callable[[V], None] = lambda view: None
    ) -> None:
        """`make` is called by the first `show`, in its thread; `again` by each later one."""
        self._make, self._again = make, again
        self._making = threading.Lock()
        self.made: V | None = None
        """The view; None before it is first shown."""
        self.box = styled(ipw.VBox, "wb-later")

    def show(self) -> None:
        """Make the view now, if it is not made yet; else tell it that it is shown again."""
        with self._making:
            if self.made is None:
                self.made = as_the_cell(self._make)
                self.box.children = [self.made.box]
            else:
                self._again(self.made)
