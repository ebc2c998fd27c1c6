"""Checkpoints and models: saved on full disks, restored from damaged ones, with the step in them.

Each checkpoint of a `tf.train.CheckpointManager` also keeps what the observer counts, so that the
records go on at the step from which training goes on.
"""

import contextlib
import functools
import pathlib
import re
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import tensorflow as tf
from tensorflow.python.checkpoint.checkpoint import CheckpointLoadStatus
from tensorflow.python.checkpoint.checkpoint_management import update_checkpoint_state_internal

from . import kerases
from .patches import Patches
from .records import NO_ROOM
from .workers import Workers

SAVE_SECONDS = 300.0
"""The longest time between two checkpoints."""
FIRST_SAVE_SECONDS = 10.0
"""The longest time until the first checkpoint of a new run."""
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


class Observer(Protocol):
    """What knows the run."""

    dir: pathlib.Path | None
    step: int
    stop: threading.Event
    workers: Workers

    def event(self, name: str, **values: Any) -> None:
        """Report an event."""

    def saves(self) -> None:
        """Note that the script saves by itself, as at the end of an epoch."""

    def check(self) -> None:
        """End the run if its weights are not worth saving."""

    def state(self) -> str:
        """Return the counts, as text."""

    def restored(self, state: str, steps: int) -> None:
        """Go on from a checkpoint's state; without one, from so many steps."""

    def loaded(self, state: str) -> None:
        """Note the counts in a checkpoint that no manager of this script keeps."""


class Saving:
    """Watches managers of checkpoints, and models that are saved."""

    def __init__(self, patches: Patches, observer: Observer) -> None:
        """Wrap TensorFlow and Keras."""
        self.observer = observer
        self.managers: list[tf.train.CheckpointManager] = []
        self.unsaved, self.is_new, self.saved_at = False, True, time.monotonic()
        """Whether the last checkpoint failed; whether this run has none yet; when it was saved."""
        self._plain_save = tf.train.CheckpointManager.save
        self._latest = tf.train.latest_checkpoint
        self.asked_folder: str | None = None
        """The last folder of which the script asked for the last checkpoint."""
        self.misfit: tuple[Any, SystemExit] | None = None
        """The status of a restored checkpoint that lacks variables, and what it lacks."""
        patches.wrap(tf.train.CheckpointManager, "__init__", self._watched_init)
        patches.wrap(tf.train.CheckpointManager, "save", self._watched_save)
        patches.wrap(tf.train.Checkpoint, "restore", self._watched_restore)
        patches.wrap(tf.train, "latest_checkpoint", self._watched_latest)
        patches.wrap(CheckpointLoadStatus, "expect_partial", self._watched_partial)
        for owner in kerases.MODELS:
            patches.wrap(owner, "save", self._watched_model)

    def is_due(self) -> bool:
        """Return whether it is time for a checkpoint."""
        waited = time.monotonic() - self.saved_at
        first = self.is_new and self.observer.step > 0 and waited > FIRST_SAVE_SECONDS
        can = self.observer.dir is not None and bool(self.managers)
        return can and (waited > SAVE_SECONDS or first)

    def save_all(self, *, stopping: bool = False) -> None:
        """Save a checkpoint from which training goes on, together with all workers.

        Of several managers, that whose checkpoints hold most: others may keep the best weights.
        """
        if self.managers:
            manager = max(self.managers, key=lambda each: len(parts_of(each.checkpoint)))
            action = functools.partial(self._plain_save, manager)
            self._save(action, wait=stopping, stopping=stopping, together=True)

    def _save(self, action: Callable[[], str | None], **how: bool) -> str | None:
        """Save a checkpoint; return its path.

        On a full disk, training goes on or, as `_write` does, waits. The result is None if nothing
        was saved: the disk is full, or it is too early for the manager's `checkpoint_interval`.
        """
        saved, observer = list[str | None](), self.observer
        observer.check()
        observer.event("saving", step=observer.step)
        error = self._write(lambda: saved.append(action()), "its checkpoint", **how)
        path = saved[-1] if saved else None
        if path is not None:
            observer.event("checkpoint", step=observer.step, checkpoint=pathlib.Path(path).name)
        elif isinstance(error, OSError | tf.errors.OpError):
            observer.event("checkpoint_failed", step=observer.step, error=str(error)[:500])
        elif error is not None:
            raise error
        self.unsaved, self.saved_at, self.is_new = error is not None, time.monotonic(), False
        return path

    def _write(
        self,
        action: Callable[[], Any],
        what: str,
        *,
        wait: bool = False,
        stopping: bool = False,
        together: bool = False,
    ) -> Exception | None:
        """Write to disk; return the error if that fails. With `wait`, wait while the disk is full.

        A stop ends that wait, unless the run is `stopping` already. `together`: all workers do
        this at the same time.
        """
        reported = False
        while True:
            error = None
            try:
                action()
            except Exception as raised:  # a full disk, or a layer that Keras cannot save
                error = raised
            full = error is not None and NO_ROOM.search(str(error)) is not None
            again, stop = full, self.observer.stop.is_set() and not stopping
            if together and wait:  # each read of weights takes all workers
                again, stop = self.observer.workers.summed([again, stop])
            if not (wait and again) or stop:
                return error
            if not reported:
                self.observer.event("no_room", step=self.observer.step, waits_to_save=what)
            reported = True
            time.sleep(1)

    def _watched_init(self, init: Callable) -> Callable:
        def watched(
            manager: Any, checkpoint: Any, directory: Any, *args: Any, **named: Any
        ) -> None:
            mend_list(directory)
            init(manager, checkpoint, directory, *args, **named)
            if isinstance(checkpoint, tf.train.Checkpoint) and not hasattr(checkpoint, STATE):
                setattr(checkpoint, STATE, State(self.observer.state))
                self.managers.append(manager)

        return watched

    def _watched_save(self, save: Callable) -> Callable:
        def watched(manager: Any, *args: Any, **named: Any) -> Any:
            if manager not in self.managers:
                return save(manager, *args, **named)
            self.observer.saves()
            return self._save(lambda: save(manager, *args, **named))

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
                missing = unrestored(checkpoint, status)
                reason = f"it has no value for {missing}"
                self.misfit = (status, other_model(path, reason)) if missing else None
                self.observer.restored(getattr(checkpoint, STATE).restored, steps_in(path))
                self.is_new, self.saved_at = self.observer.step == 0, time.monotonic()
                return status
            if paths or self._has_saved():
                raise SystemExit(
                    "Needs a checkpoint to resume from; those that this run saved in "
                    f"{folder} are missing or damaged. Restore that folder from a copy, "
                    "or start a new run."
                )
            self.observer.restored("", 0)
            self.is_new, self.saved_at = True, time.monotonic()
            return restore(checkpoint, None, *args, **named)

        return watched

    def check_fits(self) -> None:
        """End the script if it does not expect that the checkpoint lacks some of its variables."""
        if self.misfit is not None:
            raise self.misfit[1]

    def _watched_partial(self, expect: Callable) -> Callable:
        def watched(status: Any) -> Any:
            if self.misfit is not None and status is self.misfit[0]:
                self.misfit = None
            return expect(status)

        return watched

    def _watched_latest(self, latest: Callable) -> Callable:
        def watched(checkpoint_dir: Any, *args: Any, **named: Any) -> Any:
            self.asked_folder = checkpoint_dir
            mend_list(checkpoint_dir)
            return latest(checkpoint_dir, *args, **named)

        return watched

    def _candidates(self, folder: pathlib.Path, asked: str | None) -> Iterator[str]:
        """Yield the checkpoint asked for, or else the newest, then all older ones."""
        name, _, last = pathlib.Path(asked or "").name.rpartition("-")
        found = numbered(folder, name)
        before = last.isdigit() and asked != self._latest(folder)
        for each in sorted(found, reverse=True):
            if not before or each <= int(last):
                yield str(found[each])

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

            error = self._write(write, "the trained model", wait=True)
            if error is None:
                self.observer.event("model_saved")
            else:
                self.observer.event("model_not_saved", error=str(error)[:500])

        return watched

    def _has_saved(self) -> bool:
        """Return whether this run has reported a checkpoint before."""
        if self.observer.dir is None:
            return False
        events = self.observer.dir / self.observer.workers.task / "events.jsonl"
        with contextlib.suppress(OSError):
            return '"event": "checkpoint"' in events.read_text()
        return False


def mend_list(directory: Any) -> None:
    """Write a folder's list of checkpoints again if TensorFlow cannot read it."""
    folder = pathlib.Path(directory)
    listed = folder / "checkpoint"
    try:
        listed.read_text()
    except UnicodeDecodeError:
        written = sorted(folder.glob("*-*.index"), key=lambda path: path.stat().st_mtime_ns)
        name = written[-1].name.rpartition("-")[0] if written else ""
        if paths := [str(path) for _, path in sorted(numbered(folder, name).items())]:
            # In one move, because another worker may read it now.
            update_checkpoint_state_internal(str(folder), paths[-1], paths)
        else:
            listed.unlink(missing_ok=True)
    except OSError:
        pass  # it does not exist yet


def numbered(folder: pathlib.Path, name: str = "") -> dict[int, pathlib.Path]:
    """Return the checkpoints in a folder by their numbers; of those with this name, if given."""
    paths = [path.with_suffix("") for path in folder.glob("*.index")]
    parts = [(path, path.name.rpartition("-")) for path in paths]
    return {int(n): path for path, (own, _, n) in parts if n.isdigit() and name in ("", own)}


def unrestored(checkpoint: tf.train.Checkpoint, status: Any) -> str:
    """Return the variables that got no value from a checkpoint, as text."""
    restored = {id(each) for each in status._checkpoint.object_by_proto_id.values()}
    variables = [each for each in parts_of(checkpoint) if isinstance(each, tf.Variable)]
    return ", ".join(each.name for each in variables if id(each) not in restored)


def parts_of(checkpoint: tf.train.Checkpoint) -> list[Any]:
    """Return all objects that a checkpoint holds."""
    return list(tf.train.TrackableView(checkpoint).descendants())


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
