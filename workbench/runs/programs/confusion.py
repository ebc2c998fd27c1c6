"""Which classes a model takes for which, read from an evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class Pair:
    """The tests of one class that have the same answer."""

    true: int
    """The number of the examples' class."""
    predicted: int
    """The number of the class that the model predicts for them."""
    examples: int
    of: int
    """The number of all examples of the true class."""

    @property
    def right(self) -> bool:
        """Whether the model is right."""
        return self.true == self.predicted

    @property
    def share(self) -> float:
        """The part of the true class that has this answer, above 0 and up to 1."""
        return self.examples / self.of


@dataclass(frozen=True)
class Confusion:
    """The confusion matrix of an evaluation, without the pairs of classes that no example has."""

    names: Sequence[str]
    """The name of each class, by its number."""
    pairs: Sequence[Pair]
    """In the order of the true classes, then of the predicted classes."""

    @classmethod
    def of(cls, evaluation: Mapping[str, Any]) -> Confusion | None:
        """Return the matrix of an evaluation; None if an earlier release made it without one."""
        kept = evaluation.get("confusion")
        if kept is None:
            return None
        examples: dict[int, int] = {}
        for true, _, count in kept["pairs"]:
            examples[true] = examples.get(true, 0) + count
        pairs = [
            Pair(true, predicted, count, examples[true]) for true, predicted, count in kept["pairs"]
        ]
        return cls(kept["names"], pairs)

    @cached_property
    def classes(self) -> list[int]:
        """The numbers of the classes that an example has, or that the model predicts for one."""
        return sorted({number for each in self.pairs for number in (each.true, each.predicted)})

    @cached_property
    def mistakes(self) -> list[Pair]:
        """The pairs of two classes, the most examples first."""
        wrong = [each for each in self.pairs if not each.right]
        return sorted(wrong, key=lambda each: -each.examples)

    def said(self, number: int) -> str:
        """Return a class in a sentence: its name, or `class 7` if it has only a number."""
        name = self.names[number]
        return f"class {name}" if name.isdecimal() else name

    def summary(self, most: int = 3) -> str:
        """Return a sentence with the largest confusions, at most this many."""
        if not self.mistakes:
            return "No class is taken for another one."
        first, *others = self.mistakes[:most]
        parts = [
            f"{self.said(first.true)} is taken for {self.said(first.predicted)} "
            f"in {first.examples:,} of {first.of:,} tests",
            *(
                f"{self.said(each.true)} for {self.said(each.predicted)} "
                f"in {each.examples:,} of {each.of:,}"
                for each in others
            ),
        ]
        text = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
        return f"{text[0].upper()}{text[1:]}."
