"""The merge of a person's edits of a script into the script of other settings, line by line."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..syntax import parse


@dataclass(frozen=True)
class Merged:
    """A script with the edits of another one, and the edited lines that it lacks."""

    text: str
    left_out: tuple[str, ...]
    """Lines of the edited script, in order, at which the wanted script differs too."""


@dataclass(frozen=True)
class _Change:
    """Lines in place of those before, from `first` up to `end`; both count from 0."""

    first: int
    end: int
    lines: tuple[str, ...]
    edited: bool
    """Whether a person made the change; else the wanted script has it."""

    def meets(self, first: int, end: int) -> bool:
        """Return whether the change replaces lines of a stretch, or adds lines inside it."""
        if self.first == self.end or first == end:
            return first < self.first < end or self.first < first < self.end
        return self.first < end and first < self.end


def merge(before: str, edited: str, wanted: str) -> Merged:
    """Return the wanted script with the edits that turn the script before into the edited one.

    Where both change the same lines, the wanted script counts.
    """
    base = before.split("\n")
    wishes = list(_changes(base, wanted, edited=False))
    known = {(each.first, each.end, each.lines) for each in wishes}
    edits = _changes(base, edited, edited=True)
    edits = (each for each in edits if (each.first, each.end, each.lines) not in known)
    changes = sorted([*wishes, *edits], key=lambda each: (each.first, each.end, each.edited))
    lines: list[str] = []
    refused: list[str] = []
    at = 0
    for group in _groups(changes):
        first, end = group[0].first, max(each.end for each in group)
        taken = [each for each in group if len(group) == 1 or not each.edited]
        refused += [line for each in group if each not in taken for line in each.lines]
        lines += [*base[at:first], *_applied(base, taken, first, end)]
        at = end
    text = "\n".join([*lines, *base[at:]])
    return _checked(text, edited, wanted, base, refused)


def _checked(
    text: str, edited: str, wanted: str, base: Sequence[str], refused: Sequence[str]
) -> Merged:
    """Return the merge, or the wanted script without any edit if the merge is not Python."""
    try:
        parse(text)
    except SyntaxError:
        text, refused = wanted, [line for line in edited.split("\n") if line not in base]
    there = {line.strip() for line in text.split("\n")}
    return Merged(text, tuple(line for line in refused if line.strip() not in there))


def _changes(base: Sequence[str], text: str, *, edited: bool) -> Iterator[_Change]:
    lines = text.split("\n")
    matcher = difflib.SequenceMatcher(None, base, lines, autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            yield _Change(i1, i2, tuple(lines[j1:j2]), edited)


def _groups(changes: Sequence[_Change]) -> Iterator[list[_Change]]:
    """Yield the changes in order; those that meet one another together."""
    group: list[_Change] = []
    for change in changes:
        if group and not change.meets(group[0].first, max(each.end for each in group)):
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _applied(base: Sequence[str], taken: Sequence[_Change], first: int, end: int) -> Iterator[str]:
    """Yield the lines of a stretch with the changes that are taken."""
    at = first
    for change in taken:
        yield from base[at : change.first]
        yield from change.lines
        at = change.end
    yield from base[at:end]
