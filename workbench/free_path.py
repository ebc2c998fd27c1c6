"""Places for exports of runs: each gets a free name, and is written completely or not at all."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from workbench.runs import RunError


def file_name(text: str) -> str:
    """Return a text as a file name: without separators, never hidden, never empty."""
    return re.sub(r"[^\w.\- ]+", "_", text).strip(" .")[:100] or "run"


def beside(path: Path) -> Path:
    """Return a free path next to another path, such as `train-2.py`."""
    number = 2
    while os.path.lexists(free := path.with_stem(f"{path.stem}-{number}")):
        number += 1
    return free


@contextlib.contextmanager
def new_path(target: Path) -> Iterator[Path]:
    """Yield a path for a new file or folder, which gets the target's name when it is complete.

    Raises:
        RunError: the target exists already, or it cannot be written; nothing is left.
    """
    _check_free(target)
    hidden = target.with_name(f".exporting-{os.getpid()}-{secrets.token_hex(3)}")
    try:
        yield hidden
        _check_free(target)
        hidden.rename(target)
    except OSError as error:
        raise RunError(
            f"An export needs a folder that can be written; {target}: {error.strerror or error}. "
            "Make room there, or choose another place."
        ) from error
    finally:
        _remove(hidden)


def _check_free(target: Path) -> None:
    if os.path.lexists(target):
        raise RunError(
            f"An export never overwrites; {target} exists already. Choose another name, or "
            "remove it first."
        )


def _remove(path: Path) -> None:
    """Remove the rest of a failed export; after a successful one there is nothing to remove."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
