"""Tabs and folds whose titles every page can read, whichever ipywidgets the kernel has.

ipywidgets 7 keeps titles where pages of ipywidgets 8 do not look. Colab joins the two: its kernels
have 7.7, and the widget manager that it loads for other people's widgets is of 8, which fails
over a container without titles and takes what stands around it down with it.
"""

from __future__ import annotations

from typing import Any

import ipywidgets as ipw
import traitlets


class _Titled(traitlets.HasTraits):
    """Tells the titles under the name that ipywidgets 8 has for them too."""

    titles = traitlets.List(traitlets.Unicode()).tag(sync=True)

    def set_title(self, index: int, title: str) -> None:
        """Set the title of a page."""
        super().set_title(index, title)  # type: ignore[misc]
        missing = [""] * (index + 1 - len(self.titles))
        titles = [*self.titles, *missing]
        titles[index] = title
        self.titles = titles


class _TitledTab(_Titled, ipw.Tab):  # type: ignore[misc]
    """Tabs of ipywidgets 7."""


class _TitledAccordion(_Titled, ipw.Accordion):  # type: ignore[misc]
    """Folds of ipywidgets 7."""


_KNOWN = hasattr(ipw.Tab, "titles")
Tab: Any = ipw.Tab if _KNOWN else _TitledTab
Accordion: Any = ipw.Accordion if _KNOWN else _TitledAccordion
