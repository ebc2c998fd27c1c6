"""A page of HTML about runs, which opens from disk. Names load when first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .html import Html, section, tag
    from .page import Section, report_text, write_report
    from .subject import Subject

_HOMES = {
    "Html": ".html",
    "Section": ".page",
    "Subject": ".subject",
    "report_text": ".page",
    "section": ".html",
    "tag": ".html",
    "write_report": ".page",
}

__all__ = ["Html", "Section", "Subject", "report_text", "section", "tag", "write_report"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)
