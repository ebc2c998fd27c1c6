"""Checkpoints on disk: which there are, and whether all files of one are there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDER = "checkpoints"
STATE = "checkpoint"
"""The file in which TensorFlow names those it keeps; it is written when all theirs are."""

_NAMED = re.compile(r'^(all_)?model_checkpoint_paths?: "([^"]+)"', re.MULTILINE)
_INDEX = re.compile(r"ckpt-(\d+)\.index")
_SHARD = re.compile(r"\.data-\d+-of-(\d+)$")


@dataclass(frozen=True)
class Saved:
    """The checkpoints that a folder keeps."""

    folder: Path
    names: tuple[str, ...]
    """Oldest first; the last is the one to go on from."""

    @classmethod
    def read(cls, folder: Path) -> Saved | None:
        """Tell what is kept in a folder; None where nothing was saved yet.

        Where TensorFlow's list of them is gone or damaged these are all that lie there.

        Raises:
            OSError: the folder or the list cannot be read.
        """
        names = _listed(folder) or _lying(folder)
        return cls(folder, names) if names else None

    def files(self, name: str) -> list[Path]:
        """Return the files of a checkpoint that are there, the index, which needs them, last."""
        return [*sorted(self.folder.glob(f"{name}.data-*")), *self.folder.glob(f"{name}.index")]

    def whole(self) -> list[str]:
        """Return the names of those whose files are all there, oldest first."""
        return [name for name in self.names if is_whole(self.files(name))]


def _listed(folder: Path) -> tuple[str, ...]:
    """Return the names in TensorFlow's list, oldest first; none where it is gone or damaged."""
    try:
        text = (folder / STATE).read_text(encoding="utf-8")
    except (FileNotFoundError, UnicodeDecodeError):
        return ()
    found = [(bool(every), Path(path).name) for every, path in _NAMED.findall(text)]
    latest = [name for every, name in found if not every][:1]
    earlier = [name for every, name in found if every and name not in latest]
    return (*earlier, *latest) if latest else ()


def _lying(folder: Path) -> tuple[str, ...]:
    """Return the names of those that have an index, oldest first."""
    try:
        found = [_INDEX.fullmatch(path.name) for path in folder.iterdir()]
    except FileNotFoundError:
        return ()
    return tuple(f"ckpt-{number}" for number in sorted(int(each[1]) for each in found if each))


def is_whole(files: Sequence[Path]) -> bool:
    """Return whether these are all files of a checkpoint."""
    counts = [int(found[1]) for path in files if (found := _SHARD.search(path.name))]
    indexed = any(path.suffix == ".index" for path in files)
    return indexed and bool(counts) and len(counts) == counts[0]


def state_text(names: Sequence[str]) -> str:
    """Return a state file that names these, the last as the one to go on from."""
    lines = [f'model_checkpoint_path: "{names[-1]}"']
    lines += [f'all_model_checkpoint_paths: "{name}"' for name in names]
    return "\n".join(lines) + "\n"
