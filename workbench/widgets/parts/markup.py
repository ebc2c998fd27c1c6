"""Small pieces of HTML that several views share. Everything from outside is escaped here."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence


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


def table(
    caption: str, columns: Sequence[str], rows: Iterable[Sequence[str]], numeric: Sequence[int] = ()
) -> str:
    """Return a table of plain text. The columns numbered in `numeric` are aligned to the right."""

    def row(cells: Sequence[str], tag: str) -> str:
        return "".join(
            f"<{tag}{' class=wb-number' if at in numeric else ''}>{text(cell)}</{tag}>"
            for at, cell in enumerate(cells)
        )

    body = "".join(f"<tr>{row(cells, 'td')}</tr>" for cells in rows)
    return (
        f'<table class="wb-table"><caption class="wb-hidden">{text(caption)}</caption>'
        f"<thead><tr>{row(columns, 'th')}</tr></thead><tbody>{body}</tbody></table>"
    )


def scrolling(label: str, inside: str, css_class: str = "") -> str:
    """Return a region that scrolls and can be reached by the keyboard."""
    return (
        f'<div class="wb-scroll {css_class}" tabindex="0" role="region" '
        f'aria-label="{text(label)}">{inside}</div>'
    )
