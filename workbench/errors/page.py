"""The page *Errors* as HTML: JupyterLab shows it, also without a network."""

from __future__ import annotations

from itertools import groupby

from workbench.fields import FIELDS
from workbench.report.html import Html, document, section, tag

from . import Error, all_errors, field_named, find

TITLE = "Errors of the workbench"
ABOUT = (
    "What the workbench refuses, and what it says about training that failed, with what to do. "
    "… stands for what differs each time."
)
UNKNOWN = (
    "No error here is like the one that you came from. Its own text says what is wrong and what to "
    "do; for failed training, the log says more."
)


def errors_page(about: str = "") -> str:
    """Return the page. What `about` names, a field or an error, comes first; see `find`."""
    field, found = field_named(about), find(about) if about else []
    first = tag("p", UNKNOWN, class_="warning") if about else None
    if found or field:
        help_text = tag("p", FIELDS[field].help) if field else None
        first = section(field or "This error", help_text, _entries(found))
    topics = groupby(all_errors(), key=lambda error: error.topic)
    rest = [section(topic, *_by_field(list(errors))) for topic, errors in topics]
    return document(TITLE, ABOUT, first, *rest)


def _by_field(errors: list[Error]) -> list[Html | None]:
    """Return the errors of a topic, those of each field below its name."""
    parts: list[Html | None] = []
    for field, about in groupby(errors, key=lambda error: error.field):
        parts += [tag("h3", field, id=f"errors-{field}") if field else None]
        parts += [_entries(list(about))]
    return parts


def _entries(errors: list[Error]) -> Html:
    articles = (
        tag("article", tag("h4", error.cause), *(tag("p", fix) for fix in error.fixes))
        for error in errors
    )
    return tag("div", *articles)
