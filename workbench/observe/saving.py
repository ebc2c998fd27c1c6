"""Checkpoints and models: saved on full disks, restored from damaged ones, with the step in them.

Each checkpoint of a `tf.train.CheckpointManager` also keeps what the observer counts, so that the
records go on at the step from which training goes on.
"""

import contextlib
import pathlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from . import kerases
from .events import NO_ROOM
from .patches import Patches

STATE = "observed"
"""The attribute of a checkpoint that keeps the counts."""
COUNTED = re.compile(r"(^|/)(step|_?iter(ations)?)/\.ATTRIBUTES/VARIABLE_VALUE$")
"""The name of a count of steps in a checkpoint: the script's, or an optimizer's."""


class State(tf.train.experimental.PythonState):
    """The observer's counts, as text in a checkpoint."""

    def __init__(self, text: Callable[[], str]) -> None:
        super().__init__()
        self.text, self.restored = text, ""

    def serialize(self) -> str:
        """Return the text that is saved."""
        return self.text()

    def deserialize(self, string_value: Any) -> None:
        """Take the text that was saved."""
        self.restored = tf.compat.as_text(string_value)


class Saving:
    """Watches managers of checkpoints, and models that are saved."""

    def __init__(self, patches: Patches, observer: Any) -> None:
        """Wrap TensorFlow and Keras."""
        self.observer = observer
        self.managers: list[tf.train.CheckpointManager] = []
        self._save = tf.train.CheckpointManager.save
        self._latest = tf.train.latest_checkpoint
        self.asked_folder: str | None = None
        """The last folder of which the script asked for the last checkpoint."""
        patches.wrap(tf.train.CheckpointManager, "__init__", self._watched_init)
        patches.wrap(tf.train.CheckpointManager, "save", self._watched_save)
        patches.wrap(tf.train.Checkpoint, "restore", self._watched_restore)
        patches.wrap(tf.train, "latest_checkpoint", self._watched_latest)
        for owner in kerases.MODELS:
            patches.wrap(owner, "save", self._watched_model)

    def save(self, manager: tf.train.CheckpointManager) -> str | None:
        """Save a checkpoint; return its path."""
        return self._save(manager)

    def _watched_init(self, init: Callable) -> Callable:
        def watched(
            manager: Any, checkpoint: Any, directory: Any, *args: Any, **named: Any
        ) -> None:
            remove_damaged_list(directory)
            init(manager, checkpoint, directory, *args, **named)
            if isinstance(checkpoint, tf.train.Checkpoint) and not hasattr(checkpoint, STATE):
                setattr(checkpoint, STATE, State(self.observer.state))
                self.managers.append(manager)

        return watched

    def _watched_save(self, save: Callable) -> Callable:
        def watched(manager: Any, *args: Any, **named: Any) -> Any:
            if manager not in self.managers:
                return save(manager, *args, **named)
            self.observer.end_epoch()
            return self.observer.save(lambda: save(manager, *args, **named))

        return watched

    def _watched_restore(self, restore: Callable) -> Callable:
        def watched(checkpoint: Any, save_path: Any, *args: Any, **named: Any) -> Any:
            manager = next((each for each in self.managers if each.checkpoint is checkpoint), None)
            if manager is None:
                self.observer.loaded(state_in(save_path))
                return restore(checkpoint, save_path, *args, **named)
            folder = pathlib.Path(manager.directory)
            if not self.observer.workers.leads:  # it restores what the leading worker saved
                asked = pathlib.Path(save_path).parent if save_path else self.asked_folder
                folder = pathlib.Path(asked or folder)
            if save_path and pathlib.Path(save_path).parent != folder:  # of another training
                return restore(checkpoint, save_path, *args, **named)
            paths = list(self._candidates(folder, save_path))
            for path in paths:
                try:
                    status = restore(checkpoint, path, *args, **named)
                except (tf.errors.OpError, LookupError, RuntimeError) as error:
                    text = str(error)[:500]
                    self.observer.event("checkpoint_damaged", checkpoint=path, error=text)
                    continue
                except ValueError as error:  # a variable has another shape
                    raise other_model(path, str(error)) from error
                if missing := unrestored(checkpoint, status):
                    raise other_model(path, f"it has no value for {missing}")
                self.observer.restored(getattr(checkpoint, STATE).restored, steps_in(path))
                return status
            if paths or self.observer.has_saved():
                raise SystemExit(
                    "Needs a checkpoint to resume from; those that this run saved in "
                    f"{folder} are missing or damaged. Restore that folder from a copy, "
                    "or start a new run."
                )
            self.observer.restored("", 0)
            return restore(checkpoint, None, *args, **named)

        return watched

    def _watched_latest(self, latest: Callable) -> Callable:
        def watched(checkpoint_dir: Any, *args: Any, **named: Any) -> Any:
            self.asked_folder = checkpoint_dir
            remove_damaged_list(checkpoint_dir)
            return latest(checkpoint_dir, *args, **named)

        return watched

    def _candidates(self, folder: pathlib.Path, asked: str | None) -> Iterator[str]:
        """Yield the checkpoint asked for, or else the newest, then all older ones."""
        found = [path.with_suffix("") for path in folder.glob("*.index")]
        numbered = {
            int(number): path
            for path in found
            if (number := path.name.rpartition("-")[2]).isdigit()
        }
        _, _, last = str(asked).rpartition("-")
        before = last.isdigit() and asked != self._latest(folder)
        for each in sorted(numbered, reverse=True):
            if not before or each <= int(last):
                yield str(numbered[each])

    def _watched_model(self, save: Callable) -> Callable:
        def watched(model: Any, filepath: Any, *args: Any, **named: Any) -> None:
            path = pathlib.Path(filepath)
            before = path.stat().st_mtime_ns if path.is_file() else None

            def write() -> None:
                try:
                    save(model, filepath, *args, **named)
                except BaseException:
                    if path.is_file() and path.stat().st_mtime_ns != before:
                        path.unlink()  # a part of a model
                    raise

            self.observer.save_model(write)

        return watched


def remove_damaged_list(directory: Any) -> None:
    """Remove a folder's list of checkpoints if TensorFlow cannot read it."""
    listed = pathlib.Path(directory) / "checkpoint"
    try:
        listed.read_text()
    except UnicodeDecodeError:
        listed.unlink(missing_ok=True)  # another worker may have done it
    except OSError:
        pass  # it does not exist yet


def unrestored(checkpoint: tf.train.Checkpoint, status: Any) -> str:
    """Return the variables that got no value from a checkpoint, as text."""
    restored = {id(each) for each in status._checkpoint.object_by_proto_id.values()}
    found = tf.train.TrackableView(checkpoint).descendants()
    variables = [each for each in found if isinstance(each, tf.Variable)]
    return ", ".join(each.name for each in variables if id(each) not in restored)


def other_model(path: str, reason: str) -> SystemExit:
    """Return the end of a run whose checkpoint is that of another model."""
    return SystemExit(
        f"Needs a checkpoint of this model and optimizer; {path} does not fit: {reason[:500]}. "
        "Restore the code that made it, or start a new run."
    )


def steps_in(path: str) -> int:
    """Return the steps that a checkpoint has counted; 0 if it counts none.

    An optimizer that scales losses counts no step whose gradient was not finite.
    """
    names = [name for name, _ in tf.train.list_variables(path) if COUNTED.search(name)]
    return max((int(tf.train.load_variable(path, name)) for name in names), default=0)


def state_in(path: Any) -> str:
    """Return the observer's counts in a checkpoint, as text; empty if it holds none."""
    with contextlib.suppress(tf.errors.OpError, ValueError, TypeError):
        return tf.compat.as_text(tf.train.load_variable(path, f"{STATE}/.ATTRIBUTES/py_state"))
    return ""


def is_full(error: Exception | None) -> bool:
    """Return whether an error comes from a full disk."""
    return error is not None and NO_ROOM.search(str(error)) is not None
