"""What is wrong with a config: all of it at once, each beside the field that causes it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TypeVar

Row = TypeVar("Row")


@dataclass(frozen=True)
class Problem:
    """One broken rule: the field, the rule, what was received, and the change that mends it."""

    field: str
    rule: str
    got: str
    fix: str

    def __str__(self) -> str:
        return f"{self.field}: {self.rule}; got {self.got}. {self.fix}"


class PlanError(ValueError):
    """A config that cannot be planned, with every problem found in it."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


@dataclass
class Findings:
    """Collects problems while a plan is made."""

    problems: list[Problem] = field(default_factory=list)

    def add(self, field_name: str, rule: str, got: object, fix: str) -> None:
        """Note a problem; planning goes on so that the others are found as well."""
        self.problems.append(Problem(field_name, rule, _shown(got), fix))

    def known(self, field_name: str, name: str, table: Mapping[str, Row]) -> Row | None:
        """Return the table's row of that name, or note the problem with the nearest name."""
        if name in table:
            return table[name]
        close = get_close_matches(name, table, n=1)
        fix = f"Did you mean {close[0]}?" if close else f"Choose {next(iter(table))}."
        self.add(field_name, f"one of {', '.join(table)}", name, fix)
        return None

    def positive(self, field_name: str, value: float, example: object) -> bool:
        """Note a problem unless the value is finite and above zero."""
        if math.isfinite(value) and value > 0:
            return True
        self.add(field_name, "a number above 0", value, f"Set it to {example}, for example.")
        return False


def _shown(value: object) -> str:
    text = value if isinstance(value, str) and value else repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."
