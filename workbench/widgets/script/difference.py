"""The difference of two scripts as HTML: two columns with equal parts folded, and a summary."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby

from workbench.scripts import Row, Side, side_by_side
from workbench.widgets.parts import markup

_SPOKEN = {"same": "", "changed": "changed: ", "removed": "only here: ", "added": "only here: "}


def difference(left: str, right: str, left_name: str, right_name: str) -> str:
    """Return a region with both texts side by side, and above it a summary."""
    rows = side_by_side(left, right)
    text = summary(rows, left_name, right_name)
    if all(row.kind in ("same", "folded") for row in rows):
        return markup.notice("info", text)
    names = "".join(f"<div>{markup.text(name)}</div>" for name in (left_name, right_name))
    head = f'<div class="wb-diff-head" aria-hidden="true">{names}</div>'
    body = "".join(_blocks(rows, left_name, right_name))
    region = markup.scrolling(
        f"Difference of {left_name} and {right_name}", head + body, "wb-code wb-diff"
    )
    return markup.quiet(text) + region


def summary(rows: Sequence[Row], left_name: str, right_name: str) -> str:
    """Return a sentence on how much differs, which a screen reader can read."""
    counts = Counter(row.kind for row in rows)
    parts = [
        f"{counts[kind]} line{'s' * (counts[kind] != 1)} {what}"
        for kind, what in (
            ("changed", "changed"),
            ("removed", f"only in {left_name}"),
            ("added", f"only in {right_name}"),
        )
        if counts[kind]
    ]
    if not parts:
        return f"{left_name[:1].upper()}{left_name[1:]} and {right_name} are identical."
    return f"Left {left_name}, right {right_name}: {', '.join(parts)}."


def _blocks(rows: Sequence[Row], left_name: str, right_name: str) -> Iterable[str]:
    for folded, block in groupby(rows, lambda row: row.kind == "folded"):
        for row in block if folded else ():
            yield _fold(row, left_name, right_name)
        if not folded:
            yield _table(list(block), left_name, right_name)


def _fold(row: Row, left_name: str, right_name: str) -> str:
    count = len(row.rows)
    return (
        f"<details><summary>{count} identical lines</summary>"
        f"{_table(row.rows, left_name, right_name)}</details>"
    )


def _table(rows: Sequence[Row], left_name: str, right_name: str) -> str:
    names = "".join(
        f'<th scope="col">Line</th><th scope="col">{markup.text(name)}</th>'
        for name in (left_name, right_name)
    )
    body = "".join(
        f'<tr class="wb-diff-{row.kind}">{_cells(row.left, row, "-")}{_cells(row.right, row, "+")}'
        "</tr>"
        for row in rows
    )
    columns = '<col class="wb-diff-line"><col>' * 2
    return (
        f"<table><colgroup>{columns}</colgroup>"
        f'<thead class="wb-hidden"><tr>{names}</tr></thead><tbody>{body}</tbody></table>'
    )


def _cells(side: Side | None, row: Row, mark: str) -> str:
    if side is None:
        return '<td class="wb-diff-none" colspan="2"></td>'
    shown = "" if row.kind == "same" else mark
    spoken = f'<span class="wb-hidden">{_SPOKEN[row.kind]}</span>' if shown else ""
    return (
        f'<td class="wb-diff-line"><span aria-hidden="true">{shown}</span>{side.number}</td>'
        f"<td>{spoken}{_pieces(side)}</td>"
    )


def _pieces(side: Side) -> str:
    return "".join(
        f"<mark>{_plain(text)}</mark>" if marked and text.strip() else _plain(text)
        for text, marked in side.pieces
    )


def _plain(text: str) -> str:
    return html.escape(text, quote=False)
