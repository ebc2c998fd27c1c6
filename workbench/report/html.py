"""HTML made of elements: every text is escaped; only elements are not escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from pathlib import Path

LONGEST_LINE = 60
"""The most characters of a table's cell that stay on one line."""
VOID = frozenset({"meta", "col", "br"})
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
STYLE = Path(__file__).with_name("style.css")


class Html(str):
    """Text that is already HTML; any other `str` is a text that the page shows as it is."""

    __slots__ = ()


def shown(text: str | Html) -> Html:
    """Return the HTML for a text between tags: escaped, unless the text is already HTML."""
    return text if isinstance(text, Html) else Html(html.escape(_whole(text), quote=False))


def quoted(value: str | float) -> str:
    """Return the value of an attribute, in quotes that no value can end."""
    return f'"{html.escape(_whole(str(value)), quote=True)}"'


def _whole(text: str) -> str:
    """Return the text without lone surrogates, which cannot be written.

    Names that are not in UTF-8 contain lone surrogates.
    """
    return text.encode("utf-8", "replace").decode("utf-8")


def tag(name: str, /, *inside: str | Html | None, **attributes: str | float | None) -> Html:
    """Return an element. `class_` is its class, `aria_label` its `aria-label`; None is left out."""
    quoted_attributes = "".join(
        f" {key.rstrip('_').replace('_', '-')}={quoted(value)}"
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return Html(f"<{name}{quoted_attributes}>")
    return Html(f"<{name}{quoted_attributes}>{joined(inside)}</{name}>")


def joined(parts: Iterable[str | Html | None]) -> Html:
    """Return the HTML of the parts, one after the other; None adds nothing."""
    return Html("".join(shown(part) for part in parts if part is not None))


def document(title: str, about: str, *parts: Html | None) -> str:
    """Return a whole page: its title, a line about it, and its parts. It loads nothing."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        # If a text ever gets past the escaping, the browser still neither runs nor loads it.
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", Html(STYLE.read_text(encoding="utf-8"))),
    )
    header = tag("header", tag("h1", title), tag("p", about, class_="quiet"))
    body = tag("body", header, tag("main", *parts))
    return joined([Html("<!doctype html>\n"), tag("html", head, body, lang="en"), "\n"])


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[str | Html]],
    caption: str,
    *,
    noted: bool = False,
) -> Html:
    """Return a table in a box that scrolls; the first cell of a row is its heading.

    With `noted` the last column has words, which stay in sight.
    """
    heads = joined(tag("th", cell, scope="col") for cell in head)
    body = joined(
        tag("tr", tag("th", first, scope="row"), *(_cell(each) for each in rest))
        for first, *rest in rows
    )
    # With `tabindex`, the keyboard can reach the box and scroll it.
    return tag(
        "div",
        tag("table", tag("caption", caption), tag("thead", tag("tr", heads)), tag("tbody", body)),
        class_="scroll noted" if noted else "scroll",
        tabindex=0,
        role="region",
        aria_label=caption,
    )


def _cell(text: str | Html) -> Html:
    return tag("td", text, class_="words" if len(text) > LONGEST_LINE else None)


def section(title: str, *inside: Html | None) -> Html:
    """Return a part of the page under a heading."""
    return tag("section", tag("h2", title), *inside)


def fold(title: str | Html, *inside: Html | None) -> Html:
    """Return an element that a click opens."""
    return tag("details", tag("summary", title), *inside)


def code(text: str) -> Html:
    """Return an element that shows a text as it is, with its lines."""
    return tag("pre", tag("code", text), tabindex=0)
