"""What was measured of a run and is kept in its folder, read back."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from workbench.runs.folder.files import RunError

T = TypeVar("T")


def read_kept(path: Path, kind: type[T]) -> T | None:
    """Return what was kept there as JSON, of the dataclass `kind`; None where nothing is.

    Raises:
        RunError: it cannot be read, or is none of that kind, as what another version kept.
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
            f"What was measured before is read from {path}; received: {why}. Measure it again, "
            "which replaces it."
        ) from error
