"""Measurements of a run that are kept in its folder, read back."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from workbench.runs.folder.files import RunError

T = TypeVar("T")


def read_measurement(path: Path, kind: type[T]) -> T | None:
    """Return the kept JSON as the dataclass `kind`; None if there is no file.

    Raises:
        RunError: the file cannot be read, or has another form, as from another version.
    """
    from pydantic import TypeAdapter, ValidationError  # takes 0.1 s, and few runs keep something

    try:
        return TypeAdapter(kind).validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        why = str(error)
        if isinstance(error, ValidationError):
            first = error.errors()[0]
            why = " ".join([*map(str, first["loc"]), first["msg"]])
        raise RunError(
            f"The earlier measurement in {path} cannot be read: {why}. Measure again; that "
            "replaces the file."
        ) from error
