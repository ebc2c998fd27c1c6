"""Problems of a plan in the words of the form: labels instead of names of fields and values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from workbench import catalog
from workbench.plan import Problem

NAME = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")
VALUE = re.compile(r'"(\w+)"')


def sentence(problem: Problem, label_of: Callable[[str], str]) -> str:
    """Return a problem as the sentence that is shown next to its field.

    `label_of` returns the form's label of a field, or the name itself if the form has no such
    field.
    """
    labels = _labels_of_values([problem.field, *NAME.findall(problem.fix)])
    got = labels.get(problem.got, problem.got)
    text = f"must be {problem.rule}; got {got}. {problem.fix}"
    text = VALUE.sub(lambda found: labels.get(found[1], found[0]), text)
    return NAME.sub(lambda found: labels.get(found[0]) or _named(found[0], label_of), text)


def _named(name: str, label_of: Callable[[str], str]) -> str:
    label = label_of(name)
    return name if label == name else f'"{label}"'


def _labels_of_values(fields: Iterable[str]) -> dict[str, str]:
    """Return the labels of all values that these fields can have."""
    tables = (catalog.CHOICES.get(field, {}) for field in fields)
    return {value: choice.label for table in tables for value, choice in table.items()}
