"""The confusion matrix of an evaluation: which classes the model takes for which."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from workbench import units
from workbench.runs.programs.confusion import Confusion, Pair
from workbench.widgets.parts import markup

MOST_CLASSES = 30
"""The most classes that a matrix shows; of more classes, a list shows the largest confusions."""
MOST_LISTED = 20
BLUE = "47, 129, 247"
DARKEST = 0.6
"""The opacity of the blue at a share of 1: the page's text on it is readable, light and dark."""
KEYS = (0.01, 0.1, 0.5, 1.0)
HINT = "Point at a number, or move the focus to the name of a class, for exact shares."


def confusion_view(evaluation: Mapping[str, Any]) -> str:
    """Return the matrix as HTML, or the way to get it."""
    title = markup.heading("Confusion matrix", 3)
    confusion = Confusion.of(evaluation)
    if confusion is None:
        about = "This evaluation is from an earlier release. Click Evaluate to get the matrix."
        return title + markup.quiet(about)
    many = len(confusion.classes) > MOST_CLASSES
    shown = _most_confused(confusion) if many else _matrix(confusion)
    return f'{title}<div class="wb-about">{markup.text(confusion.summary())}</div>{shown}'


def _most_confused(confusion: Confusion) -> str:
    rows = [
        (
            *(confusion.names[number] for number in (each.true, each.predicted)),
            f"{each.examples:,} of {each.of:,}",
            units.percent(each.share),
        )
        for each in confusion.mistakes[:MOST_LISTED]
    ]
    about = (
        f"The {len(rows)} largest of {len(confusion.mistakes):,} confusions; "
        f"a matrix of {len(confusion.classes):,} classes would be too large to read."
    )
    columns = ("True class", "Predicted class", "Tests", "Share of the true class")
    return markup.quiet(about) + markup.table("Largest confusions", columns, rows, (2, 3))


def _matrix(confusion: Confusion) -> str:
    classes = confusion.classes
    names = "".join(
        f'<th scope="col" class="wb-number">{markup.text(confusion.names[number])}</th>'
        for number in classes
    )
    rows = "".join(_row(confusion, number) for number in classes)
    table = (
        '<table class="wb-table wb-confusion">'
        '<caption class="wb-hidden">Confusion matrix: tests by true and predicted class</caption>'
        f'<thead><tr><td></td><th colspan="{len(classes)}" scope="colgroup">Predicted class</th>'
        f'</tr><tr><th scope="col">True class</th>{names}</tr></thead><tbody>{rows}</tbody></table>'
    )
    scrolled = markup.scrolling("Confusion matrix", table)
    return f'{_keys()}<div class="wb-confused">{scrolled}{markup.quiet(HINT)}</div>'


def _row(confusion: Confusion, true: int) -> str:
    pairs = {each.predicted: each for each in confusion.pairs if each.true == true}
    cells = [_cell(confusion, pairs.get(number)) for number in confusion.classes]
    name = markup.text(confusion.names[true])
    # A sentence inside the name would stay in the name's place, which is fixed when others scroll.
    sentence = _sentence(_row_in_words(confusion, true, pairs), "wb-of-row")
    cells[-1] = cells[-1].replace("</td>", f"{sentence}</td>")
    return f'<tr><th scope="row" tabindex="0">{name}</th>{"".join(cells)}</tr>'


def _cell(confusion: Confusion, pair: Pair | None) -> str:
    if pair is None:
        return '<td class="wb-number wb-none">0</td>'
    kind = " wb-hit" if pair.right else ""
    return (
        f'<td class="wb-number{kind}" style="background:{_shade(pair.share)}">{pair.examples:,}'
        f"{_sentence(_pair_in_words(confusion, pair), 'wb-of-cell')}</td>"
    )


def _shade(share: float) -> str:
    """Return the colour of a share; the square root makes small shares visible."""
    return f"rgba({BLUE}, {DARKEST * math.sqrt(share):.3f})"


def _sentence(words: str, css_class: str) -> str:
    """Return words that are visible below the matrix while their row or cell is pointed at."""
    return f'<span class="wb-exact {css_class}">{markup.text(words)}</span>'


def _pair_in_words(confusion: Confusion, pair: Pair) -> str:
    true, predicted = confusion.said(pair.true), confusion.said(pair.predicted)
    what = "is recognized" if pair.right else f"is taken for {predicted}"
    share = units.percent(pair.share)
    return f"{true} {what} in {pair.examples:,} of {pair.of:,} tests, {share}."


def _row_in_words(confusion: Confusion, true: int, pairs: Mapping[int, Pair]) -> str:
    name = confusion.said(true)
    if not pairs:
        return f"{name}: no tests."
    known = sorted(pairs.values(), key=lambda pair: (not pair.right, -pair.examples))
    parts = [
        f"{'right' if pair.right else confusion.names[pair.predicted]} {pair.examples:,} "
        f"({units.percent(pair.share)})"
        for pair in known
    ]
    return f"{name}, {known[0].of:,} tests: {', '.join(parts)}."


def _keys() -> str:
    shades = [
        f'<span class="wb-shade" style="background:{_shade(share)}"></span>' for share in KEYS
    ]
    keys = "".join(
        f"<span>{shade} {share:.0%}</span>" for shade, share in zip(shades, KEYS, strict=True)
    )
    return f'<div class="wb-keys wb-quiet">Share of the true class: {keys}</div>'
