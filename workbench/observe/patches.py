"""Methods of TensorFlow and Keras that are wrapped while a script is watched."""

import functools
from collections.abc import Callable
from typing import Any


class Patches:
    """The wrapped methods, to take the wraps off again."""

    def __init__(self) -> None:
        self.originals: list[tuple[Any, str, Any]] = []

    def wrap(self, owner: Any, name: str, make: Callable[[Callable], Callable]) -> None:
        """Put the function that `make` returns for a method in its place."""
        original = vars(owner)[name]
        self.originals.append((owner, name, original))
        setattr(owner, name, functools.wraps(original)(make(original)))

    def undo(self) -> None:
        """Put the methods back."""
        while self.originals:
            setattr(*self.originals.pop())
