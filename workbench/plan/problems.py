"""The problems of a config: all of them together, each with the field that causes it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from ..catalog import Choice
from ..config import ConfigError, Problem, did_you_mean

RowT = TypeVar("RowT", bound=Choice)


class PlanError(ConfigError):
    """A config that cannot be planned on this machine, with every problem found in it."""


@dataclass
class Findings:
    """The problems collected during planning."""

    problems: list[Problem] = field(default_factory=list)

    def add(self, field_name: str, rule: str, got: object, fix: str) -> None:
        """Note a problem; planning goes on, so that the other problems are found too."""
        self.problems.append(Problem(field_name, rule, _shown(got), fix))

    def known(self, field_name: str, name: str, table: Mapping[str, RowT]) -> RowT | None:
        """Return the table's row with this name, or note that the name is unknown."""
        row = table.get(name)
        if row is None:
            fix = did_you_mean(name, table, f"Choose {next(iter(table))}.")
            self.add(field_name, f"one of {', '.join(table)}", name, fix)
        return row

    def positive(self, field_name: str, value: float, example: object) -> None:
        """Note a problem unless the value is finite and above zero."""
        if not 0 < value < math.inf:
            self.add(field_name, "a number above 0", value, f"Set it to {example}, for example.")


def _shown(value: object) -> str:
    plain = isinstance(value, str) and value and value.isprintable()
    text = str(value) if plain else repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."
