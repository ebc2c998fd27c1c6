"""Small pieces of HTML that several views share. Everything from outside is escaped here."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


def text(value: object) -> str:
    """Return a value as text that cannot become markup."""
    return html.escape(str(value), quote=True)


def heading(title: str, level: int = 2) -> str:
    """Return a section's heading."""
    return f'<h{level} class="wb-h{level}">{text(title)}</h{level}>'


def notice(kind: str, message: str) -> str:
    """Return a boxed message. `kind` is info, warning or error, shown by a word and a colour."""
    return boxed(kind, text(message))


def boxed(kind: str, inside: str) -> str:
    """Return HTML in the box of a notice of this kind."""
    word = {"info": "", "warning": "Note: ", "error": "Problem: "}[kind]
    return f'<div class="wb-notice wb-{kind}"><b>{word}</b>{inside}</div>'


def answer(message: str) -> str:
    """Return the sentence that answers the question of a page."""
    return f'<div class="wb-answer">{text(message)}</div>'


def spaced(*parts: str) -> str:
    """Return parts below each other with space between them. Empty parts are left out."""
    inside = "".join(f"<div>{part}</div>" for part in parts if part)
    return f'<div class="wb-parts">{inside}</div>'


def quiet(message: str) -> str:
    """Return a line of secondary text."""
    return f'<div class="wb-quiet">{text(message)}</div>'


def pill(status: str) -> str:
    """Return a run's state as a small label."""
    return f'<span class="wb-pill wb-state-{text(status)}">{text(status)}</span>'


def facts(rows: Iterable[tuple[str, str]], css_class: str = "") -> str:
    """Return names with their values; both are plain text."""
    cells = "".join(
        f'<div class="wb-fact"><dt>{text(name)}</dt><dd>{text(value)}</dd></div>'
        for name, value in rows
    )
    return f'<dl class="wb-facts {css_class}">{cells}</dl>'


@dataclass(frozen=True)
class SortHead:
    """The head of a column as a button, by which a table is sorted; see `TableHeads`."""

    sort: str
    """The name of the order that a click asks for."""
    tip: str
    direction: str = ""
    """`ascending` or `descending` if the rows are in the order of this column."""

    def cell(self, title: str, css_class: str) -> str:
        """Return the cell with this text."""
        arrow = {"ascending": "▲", "descending": "▼"}.get(self.direction, "")
        sorted_so = f' aria-sort="{self.direction}"' if self.direction else ""
        return (
            f'<th{css_class}{sorted_so}><button type="button" class="wb-sort" '
            f'data-sort="{text(self.sort)}" title="{text(self.tip)}">{text(title)}'
            f'<span aria-hidden="true">{arrow}</span></button></th>'
        )


def table(
    caption: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    numeric: Sequence[int] = (),
    heads: Mapping[str, SortHead] | None = None,
) -> str:
    """Return a table of plain text.

    The columns numbered in `numeric` are aligned to the right. The columns named in `heads` have
    buttons as heads.
    """

    def css_class(at: int) -> str:
        return " class=wb-number" if at in numeric else ""

    def head(at: int, title: str) -> str:
        by = (heads or {}).get(title)
        return by.cell(title, css_class(at)) if by else f"<th{css_class(at)}>{text(title)}</th>"

    def row(cells: Sequence[str]) -> str:
        return "".join(f"<td{css_class(at)}>{text(cell)}</td>" for at, cell in enumerate(cells))

    titles = "".join(head(at, title) for at, title in enumerate(columns))
    body = "".join(f"<tr>{row(cells)}</tr>" for cells in rows)
    return (
        f'<table class="wb-table"><caption class="wb-hidden">{text(caption)}</caption>'
        f"<thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"
    )


def scrolling(label: str, inside: str, css_class: str = "") -> str:
    """Return a region that scrolls and can be reached by the keyboard."""
    return (
        f'<div class="wb-scroll {css_class}" tabindex="0" role="region" '
        f'aria-label="{text(label)}">{inside}</div>'
    )
