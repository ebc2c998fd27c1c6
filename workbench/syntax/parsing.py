"""Python's parser, used by one thread at a time."""

from __future__ import annotations

import ast
import threading

_LOCK = threading.Lock()


def parse(source: str | bytes) -> ast.Module:
    """Return the tree of a source, as `ast.parse` does.

    Raises:
        SyntaxError: the source is not Python.
        ValueError: the source contains a null character.
    """
    # CPython 3.11 counts the depth of the tree in one place for all threads. Another thread can
    # run during a garbage collection: https://github.com/python/cpython/issues/106905.
    with _LOCK:
        return ast.parse(source)
