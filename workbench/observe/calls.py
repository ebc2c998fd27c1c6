"""The calls of graph functions by the script, which are the places where training can stop."""

import threading
import weakref
from collections.abc import Callable
from typing import Any, Protocol

import tensorflow as tf
from tensorflow.python.eager.polymorphic_function import polymorphic_function

from .patches import Patches


class Observer(Protocol):
    """What is told of the calls."""

    def traced(self) -> None:
        """A function that runs steps was traced before its first call."""

    def enter(self, trains: bool) -> None:
        """A call that runs steps begins."""

    def leave(self) -> None:
        """A call that ran steps has returned; here training may stop."""


class Calls:
    """Watches the outermost calls of the main thread."""

    def __init__(self, patches: Patches, observer: Observer) -> None:
        """Wrap graph functions."""
        self.observer, self.thread = observer, threading.current_thread()
        self.current: Any = None
        """The function that is being called or traced."""
        self.kinds: Any = weakref.WeakKeyDictionary[Any, bool | None]()
        """Functions that run steps: whether these train; None while that is not known."""
        patches.wrap(polymorphic_function.Function, "__call__", self._watched)

    def ran(self) -> bool:
        """Note that a strategy runs something; return whether that is outside all functions."""
        if threading.current_thread() is self.thread and self.current is not None:
            self.kinds.setdefault(self.current, None)
        return self.current is None

    def stepped(self, trains: bool) -> None:
        """Note that the current function trains, or tests."""
        if self.current is not None:
            self.kinds[self.current] = trains or bool(self.kinds.get(self.current))

    def _watched(self, call: Callable) -> Callable:
        def watched(function: Any, *args: Any, **kwargs: Any) -> Any:
            outermost = self.current is None and threading.current_thread() is self.thread
            if not (outermost and tf.executing_eagerly()):
                return call(function, *args, **kwargs)
            self.current = function
            try:
                self._trace(function, lambda: function.get_concrete_function(*args, **kwargs))
                if self.kinds.get(function) is not None:
                    self.observer.enter(self.kinds[function])
                result = call(function, *args, **kwargs)
            finally:
                self.current = None
            if function in self.kinds:
                self.observer.leave()
            return result

        return watched

    def _trace(self, function: Any, trace: Callable[[], Any]) -> None:
        """Trace a new function before its first call, which uses the trace."""
        eager = tf.config.functions_run_eagerly()
        if eager or function.experimental_get_tracing_count():
            return
        trace()
        if function in self.kinds:
            self.observer.traced()
