"""Plain values and small NumPy arrays as Python code. NumPy itself is not imported."""

from __future__ import annotations

import math
import pprint
from pathlib import PurePath
from textwrap import indent
from typing import Any

MAX_CHARACTERS = 20_000
"""The limit of a value in a script. People read scripts; a longer value belongs in a file."""
MAX_ARRAY_BYTES = 4096
"""The limit of an array in a script, in bytes of its numbers."""
LINE_LENGTH = 100
_PLAIN = (type(None), bool, int, float, str, bytes, range)
_CONTAINERS = (list, tuple, set, frozenset)


def is_plain(value: Any) -> bool:
    """Return whether a value is only made of numbers, text, paths and containers of these."""
    if type(value) is dict:
        return all(is_plain(key) and is_plain(item) for key, item in value.items())
    if type(value) in _CONTAINERS:
        return all(map(is_plain, value))
    return type(value) in _PLAIN or isinstance(value, PurePath)


def plain_number(value: Any) -> Any:
    """Return a NumPy scalar, such as `labels.max() + 1`, as a Python number.

    Other values are returned unchanged.
    """
    of_numpy = type(value).__module__ == "numpy" and getattr(value, "shape", None) == ()
    return value.item() if of_numpy and hasattr(value, "item") else value


def assignment(name: str, value: Any) -> str:
    """Return the assignment of a plain value; equal values always give the same statement."""
    width = LINE_LENGTH - len(f"{name} = ")
    return f"{name} = {_Writer(width=width, compact=True, sort_dicts=False).pformat(value)}"


def is_small_array(value: Any) -> bool:
    """Return whether a value is a NumPy array of a few numbers or words."""
    kind = type(value)
    if (kind.__module__, kind.__qualname__) != ("numpy", "ndarray"):
        return False
    number = value.dtype.kind in "biuU" or (value.dtype.kind == "f" and value.dtype.itemsize <= 8)
    return bool(number and value.size > 0 and value.nbytes <= MAX_ARRAY_BYTES)


def array_assignment(name: str, value: Any, module: str) -> str:
    """Return the assignment of an array of exactly these numbers, this type and this shape.

    `module` is the name of NumPy in the script.
    """
    kind = value.dtype
    dtype = kind.name if kind.isnative and kind.kind != "U" else kind.str
    rows = _Writer(width=LINE_LENGTH - 4, compact=True).pformat(_as_lists(value))
    one_line = f'{name} = {module}.array({rows}, dtype="{dtype}")'
    if "\n" not in rows and len(one_line) <= LINE_LENGTH:
        return one_line
    body = indent(f'{rows},\ndtype="{dtype}",', "    ")
    return f"{name} = {module}.array(\n{body}\n)"


def _as_lists(value: Any) -> Any:
    """Return an array as nested lists; a float of few bits has the shortest exact digits."""
    if value.ndim:
        return [_as_lists(each) for each in value]
    number = value.item()
    if value.dtype.kind != "f":
        return number
    short = float(str(value.astype(value.dtype.newbyteorder("="))))
    return short if value.dtype.type(short) == value else number


class _Writer(pprint.PrettyPrinter):
    """A writer for values that `repr` does not write as Python code, or not in a fixed order."""

    def format(self, value: Any, *rest: Any) -> tuple[str, bool, bool]:
        if type(value) is float and not math.isfinite(value):
            return f'float("{value}")', True, False
        if isinstance(value, PurePath):
            return f"pathlib.Path({str(value)!r})", True, False
        if type(value) in (set, frozenset) and value:
            items = ", ".join(sorted(self.format(item, *rest)[0] for item in value))
            text = f"{{{items}}}"
            return (text if type(value) is set else f"frozenset({text})"), True, False
        return super().format(value, *rest)
