"""A page of HTML about runs, which opens from disk. Names load when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_names

if TYPE_CHECKING:
    from .comparison import Compared
    from .html import Html, section, tag
    from .page import Section, report_text, write_comparison, write_report
    from .subject import Subject

_HOMES = {
    "Compared": ".comparison",
    "Html": ".html",
    "Section": ".page",
    "Subject": ".subject",
    "report_text": ".page",
    "section": ".html",
    "tag": ".html",
    "write_comparison": ".page",
    "write_report": ".page",
}

__all__ = [
    "Compared",
    "Html",
    "Section",
    "Subject",
    "report_text",
    "section",
    "tag",
    "write_comparison",
    "write_report",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
