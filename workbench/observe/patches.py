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

    def before(self, owner: Any, name: str, act: Callable[..., None]) -> None:
        """Have a function called before each call of a method, with the same arguments."""

        def make(method: Callable) -> Callable:
            def watched(*given: Any, **named: Any) -> Any:
                act(*given, **named)
                return method(*given, **named)

            return watched

        self.wrap(owner, name, make)

    def after(self, owner: Any, name: str, act: Callable[..., None]) -> None:
        """Have a function called after each call of a method, with its result and arguments."""

        def make(method: Callable) -> Callable:
            def watched(*given: Any, **named: Any) -> Any:
                result = method(*given, **named)
                act(result, *given, **named)
                return result

            return watched

        self.wrap(owner, name, make)

    def undo(self) -> None:
        """Put the methods back."""
        while self.originals:
            setattr(*self.originals.pop())
