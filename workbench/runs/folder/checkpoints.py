"""Checkpoints on disk: their names, and whether all files of a checkpoint are there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from .events import Event, read_events
from .plan import read_plan

FOLDER = "checkpoints"
STATE = "checkpoint"
"""The file in which TensorFlow names the checkpoints that it keeps; written after their files."""

_NAMED = re.compile(r'^(all_)?model_checkpoint_paths?: "([^"]+)"', re.MULTILINE)
_INDEX = re.compile(r"ckpt-(\d+)\.index")
_SHARD = re.compile(r"\.data-\d+-of-(\d+)$")


@dataclass(frozen=True)
class Saved:
    """The checkpoints that a folder keeps."""

    folder: Path
    names: tuple[str, ...]
    """The names, oldest first; a run resumes from the last one."""

    @classmethod
    def read(cls, folder: Path) -> Saved | None:
        """Return the checkpoints of a folder; None if nothing was saved yet.

        If TensorFlow's list of them is missing or damaged, these are all checkpoints found there.

        Raises:
            OSError: the folder or the list cannot be read.
        """
        names = _listed(folder) or _lying(folder)
        return cls(folder, names) if names else None

    def files(self, name: str) -> list[Path]:
        """Return the existing files of a checkpoint; the index, which needs the rest, is last."""
        return [*sorted(self.folder.glob(f"{name}.data-*")), *self.folder.glob(f"{name}.index")]

    def whole(self) -> list[str]:
        """Return the names of the checkpoints whose files are all there, oldest first."""
        return [name for name in self.names if is_whole(self.files(name))]


def resume_step(run_dir: Path) -> int | None:
    """Return the step at which a resume of the run goes on: 0 without a checkpoint.

    None is unknown: the last checkpoint is not complete, or no event names its step.

    Raises:
        RunError: the folder is missing or its run.json cannot be read.
    """
    saves = _saves(run_dir)
    try:
        saved = Saved.read(run_dir / FOLDER)
    except OSError:
        return None
    if saved is None:
        return None if saves else 0
    name = saved.names[-1]
    return _step_of(name, saves) if is_whole(saved.files(name)) else None


def last_whole_step(run_dir: Path) -> int | None:
    """Return the step of the run's last complete checkpoint; None if there is none.

    A checkpoint whose step no event names does not count.

    Raises:
        RunError: the folder is missing or its run.json cannot be read.
        OSError: the folder of the checkpoints cannot be read.
    """
    saved, saves = Saved.read(run_dir / FOLDER), _saves(run_dir)
    steps = [_step_of(name, saves) for name in saved.whole()] if saved else []
    return next((step for step in reversed(steps) if step is not None), None)


def _saves(run_dir: Path) -> list[Event]:
    """Return the events of all checkpoints that a run has saved."""
    return saves_in(read_events(run_dir / read_plan(run_dir).leader / "events.jsonl"))


def saves_in(events: Sequence[Event]) -> list[Event]:
    """Return the events of a run's own checkpoints; a script can write others elsewhere."""
    return [
        event
        for event in events
        if event["event"] == "checkpoint"
        and str(PurePosixPath(event.get("checkpoint", FOLDER)).parent) in (FOLDER, ".")
    ]


def _step_of(name: str, saves: Sequence[Event]) -> int | None:
    """Return the step of a checkpoint; None if no event names it."""
    # Events of earlier releases have its name only, or none: then the last one is of the last one.
    known = name, f"{FOLDER}/{name}"
    steps = [event.get("step") for event in saves if event.get("checkpoint", name) in known]
    return steps[-1] if steps else None


def _listed(folder: Path) -> tuple[str, ...]:
    """Return the names in TensorFlow's list, oldest first; none if it is missing or damaged."""
    try:
        text = (folder / STATE).read_text(encoding="utf-8")
    except (FileNotFoundError, UnicodeDecodeError):
        return ()
    found = [(bool(every), Path(path).name) for every, path in _NAMED.findall(text)]
    latest = [name for every, name in found if not every][:1]
    earlier = [name for every, name in found if every and name not in latest]
    return (*earlier, *latest) if latest else ()


def _lying(folder: Path) -> tuple[str, ...]:
    """Return the names of the checkpoints that have an index, oldest first."""
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
    """Return the text of a state file with these names; a run resumes from the last one."""
    lines = [f'model_checkpoint_path: "{names[-1]}"']
    lines += [f'all_model_checkpoint_paths: "{name}"' for name in names]
    return "\n".join(lines) + "\n"
