"""The processes that have a TPU open: only one process can use a TPU."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_COMMAND_CHARACTERS = 80


@dataclass(frozen=True)
class Holder:
    """A process that has a TPU's device file open."""

    pid: int
    command: str


def find(root: Path, device_files: list[Path]) -> tuple[Holder, ...]:
    """Return the processes that have any of these files open, if this user may see them."""
    wanted = {f"/{path.relative_to(root)}" for path in device_files}
    return tuple(
        Holder(int(folder.name), _command(folder))
        for folder in sorted((root / "proc").glob("[0-9]*"))
        if wanted.intersection(_open_files(folder))
    )


def _open_files(process: Path) -> Iterator[str]:
    try:
        for number in os.listdir(process / "fd"):  # noqa: PTH208
            yield os.readlink(process / "fd" / number)  # noqa: PTH115
    except OSError:  # the process belongs to another user, or it has ended meanwhile
        return


def _command(process: Path) -> str:
    try:
        arguments = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return "its command is not known"
    text = " ".join(filter(None, arguments)) or "its command is not known"
    return text if len(text) <= _COMMAND_CHARACTERS else f"{text[: _COMMAND_CHARACTERS - 3]}..."
