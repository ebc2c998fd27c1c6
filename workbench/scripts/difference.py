"""The difference of two scripts: side by side for people, unified for tools.

The comments that carry their configs are left out, because the constants say the same.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..codegen.carried import split_config

SAME, CHANGED, REMOVED, ADDED, FOLDED = "same", "changed", "removed", "added", "folded"
CONTEXT_LINES = 3
_WORDS = re.compile(r"\w+|\s+|.")
_ALIKE = 0.5
"""If two paired lines are less alike than this share, their words are not compared."""
Piece = tuple[str, bool]
"""Text, and whether it differs from the other side."""


@dataclass(frozen=True)
class Side:
    """A line of one of the two texts."""

    number: int
    pieces: tuple[Piece, ...]

    @property
    def text(self) -> str:
        """The complete line."""
        return "".join(text for text, _ in self.pieces)


@dataclass(frozen=True)
class Row:
    """Two lines side by side, or a folded stretch of lines that are the same in both texts."""

    kind: str
    left: Side | None = None
    right: Side | None = None
    rows: tuple[Row, ...] = ()
    """The folded rows."""


def side_by_side(left: str, right: str, context_lines: int = CONTEXT_LINES) -> list[Row]:
    """Return the rows of two columns; long stretches without a difference are folded."""
    before, after = _lines(left), _lines(right)
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    rows: list[Row] = []
    blocks = matcher.get_opcodes()
    for at, (tag, i1, i2, j1, j2) in enumerate(blocks):
        if tag != "equal":
            rows += _differing(before[i1:i2], after[j1:j2], i1, j1)
            continue
        same = [
            Row(SAME, _plain(i1 + n, before[i1 + n]), _plain(j1 + n, after[j1 + n]))
            for n in range(i2 - i1)
        ]
        first = context_lines if at else 0
        last = context_lines if at + 1 < len(blocks) else 0
        rows += _folded(same, first, last)
    return rows


def unified(left: str, right: str, left_name: str, right_name: str) -> str:
    """Return the unified difference; empty if there is none."""
    lines = difflib.unified_diff(_lines(left), _lines(right), left_name, right_name, lineterm="")
    return "".join(f"{line}\n" for line in lines)


def _lines(script: str) -> list[str]:
    return split_config(script)[0].rstrip().splitlines()


def _folded(same: list[Row], first: int, last: int) -> list[Row]:
    """Fold the middle of the equal rows if the middle has more than one row."""
    if len(same) <= first + last + 1:
        return same
    middle = tuple(same[first : len(same) - last])
    return [*same[:first], Row(FOLDED, rows=middle), *same[len(same) - last :]]


def _differing(before: Sequence[str], after: Sequence[str], i: int, j: int) -> Iterator[Row]:
    """Pair the lines of a stretch in order; leftover lines stand alone."""
    for n in range(max(len(before), len(after))):
        if n >= len(after):
            yield Row(REMOVED, left=_plain(i + n, before[n], marked=True))
        elif n >= len(before):
            yield Row(ADDED, right=_plain(j + n, after[n], marked=True))
        else:
            one, other = _words(before[n], after[n])
            yield Row(CHANGED, Side(i + n + 1, one), Side(j + n + 1, other))


def _plain(index: int, line: str, *, marked: bool = False) -> Side:
    return Side(index + 1, ((line, marked),))


def _words(before: str, after: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Return both lines with the differing words marked."""
    one, other = _WORDS.findall(before), _WORDS.findall(after)
    matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
    if matcher.ratio() < _ALIKE:
        return ((before, True),), ((after, True),)
    left: list[Piece] = []
    right: list[Piece] = []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        for pieces, words in ((left, one[i1:i2]), (right, other[j1:j2])):
            if words:
                pieces.append(("".join(words), tag != "equal"))
    return tuple(left), tuple(right)
