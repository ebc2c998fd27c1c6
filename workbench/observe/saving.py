"""Checkpoints and models: saved on full disks, restored from damaged ones.

The event of each save holds what the observer counts, so that the records go on at the step from
which training goes on.
"""

import contextlib
import math
import os
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
from .epochs import Epochs, parts_of
from .folder.events import NO_ROOM, Events
from .kerases import Patches
from .workers import Workers

SAVE_SECONDS = 300.0
"""The longest time between two checkpoints, if no other is asked for."""
FIRST_SAVE_SECONDS = 10.0
"""The longest time until the first checkpoint of a new run."""
COUNTED = re.compile(r"(^|/)(step|_?iter(ations)?)/\.ATTRIBUTES/VARIABLE_VALUE$")
"""The name of a count of steps in a checkpoint: the script's, or an optimizer's."""


class Observer(Protocol):
    """What knows the run."""

    dir: pathlib.Path | None
    step: int
    stop: threading.Event
    workers: Workers
    events: Events
    epochs: Epochs

    def event(self, name: str, **values: Any) -> None:
        """Report an event."""

    def check(self) -> None:
        """End the run if its weights are not worth saving."""

    def counts(self) -> dict[str, Any] | None:
        """Return what a process needs to go on from here; None: unknown."""

    def restored(self, counts: dict[str, Any] | None, steps: int) -> None:
        """Go on from there; `steps` are those that the script has counted."""


class Saving:
    """Watches managers of checkpoints, and models that are saved."""

    def __init__(self, patches: Patches, observer: Observer, save_seconds: float | None) -> None:
        """Wrap TensorFlow and Keras; save at the latest after `save_seconds`."""
        self.observer = observer
        self.save_seconds = SAVE_SECONDS if save_seconds is None else save_seconds
        self.managers: list[tf.train.CheckpointManager] = []
        self.unsaved, self.is_new, self.saved_at = False, True, time.monotonic()
        """Whether the last checkpoint failed; whether this run has none yet; when it was saved."""
        self.how: dict[str, bool] | None = None
        """While a manager saves: how `_write` does that."""
        self.read: dict[str, Any] | None = None
        """What the last checkpoint that was read has counted, if that is known."""
        self.thread = threading.current_thread()
        self._plain_save = tf.train.CheckpointManager.save
        self._latest = tf.train.latest_checkpoint
        self.asked_folder: str | None = None
        """The last folder of which the script asked for the last checkpoint."""
        self.misfit: tuple[Any, SystemExit] | None = None
        """The status of a restored checkpoint that lacks variables, and what it lacks."""
        manager = tf.train.CheckpointManager
        patches.before(
            manager, "__init__", lambda _, checkpoint, directory, *__, **___: mend_list(directory)
        )
        patches.after(manager, "__init__", self._keep_manager)
        patches.wrap(manager, "save", self._watched_save)
        patches.wrap(tf.train.Checkpoint, "_write", self._watched_write)
        patches.wrap(tf.train.Checkpoint, "restore", self._watched_restore)
        patches.after(tf.train.Checkpoint, "read", self._note_read)
        patches.before(tf.train, "latest_checkpoint", self._note_folder)
        patches.before(CheckpointLoadStatus, "expect_partial", self._note_partial)
        for owner in kerases.MODELS:
            patches.wrap(owner, "save", self._watched_model)

    def is_due(self) -> bool:
        """Return whether it is time for a checkpoint."""
        waited = time.monotonic() - self.saved_at
        first = self.is_new and self.observer.step > 0 and waited > FIRST_SAVE_SECONDS
        can = self.observer.dir is not None and bool(self.managers)
        return can and (waited > self.save_seconds or first)

    def save_all(self, *, stopping: bool = False) -> None:
        """Save a checkpoint from which training goes on, together with all workers.

        Of several managers, that whose checkpoints hold most: others may keep the best weights.
        """
        if self.managers:
            manager = max(self.managers, key=lambda each: len(parts_of(each.checkpoint)))
            manager._last_checkpoint_step = None  # it saves, whatever its `checkpoint_interval` is
            with self._by_manager(wait=stopping, stopping=stopping, together=True):
                self._plain_save(manager)
            self.saved_at = time.monotonic()

    @contextlib.contextmanager
    def _by_manager(self, **how: bool) -> Iterator[None]:
        self.how = how
        try:
            yield
        finally:
            self.how = None

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

    def _keep_manager(
        self, result: None, manager: Any, checkpoint: Any, *_: Any, **__: Any
    ) -> None:
        if isinstance(checkpoint, tf.train.Checkpoint) and self._manager_of(checkpoint) is None:
            self.managers.append(manager)

    def _watched_save(self, save: Callable) -> Callable:
        def watched(manager: Any, *args: Any, **named: Any) -> Any:
            if manager not in self.managers:
                return save(manager, *args, **named)
            self.observer.epochs.saves()
            with self._by_manager():
                return save(manager, *args, **named)

        return watched

    def _manager_of(self, checkpoint: tf.train.Checkpoint) -> Any:
        return next((each for each in self.managers if each.checkpoint is checkpoint), None)

    def _watched_write(self, write: Callable) -> Callable:
        def watched(checkpoint: Any, file_prefix: Any, *args: Any, **named: Any) -> Any:
            if not self._is_watched(file_prefix):
                return write(checkpoint, file_prefix, *args, **named)
            saved, name, observer = list[str](), self._name(file_prefix), self.observer
            managed = self.how is not None
            if managed:
                observer.check()
            counts = observer.counts()
            step = counts["step"] if counts else observer.step
            observer.event("saving", step=step, checkpoint=name, counts=counts)
            error = self._write(
                lambda: saved.append(write(checkpoint, file_prefix, *args, **named)),
                "its checkpoint",
                **(self.how or {}),
            )
            no_disk = isinstance(error, OSError | tf.errors.OpError)
            if error is None:
                observer.event("checkpoint", step=step, checkpoint=name)
            elif no_disk:
                observer.event("checkpoint_failed", step=step, error=str(error)[:500])
            if error is not None and not (managed and no_disk):
                raise error
            if managed:
                self.unsaved, self.is_new = error is not None, False
                self.saved_at = time.monotonic()
            return saved[-1] if saved else None  # then training goes on without it

        return watched

    def _note_read(self, status: Any, reader: Any, save_path: Any, *__: Any, **___: Any) -> None:
        self.read = None
        if save_path and self._is_watched(save_path):
            written_at = math.inf
            with contextlib.suppress(tf.errors.OpError):  # of a format without an index
                written_at = tf.io.gfile.stat(f"{os.fspath(save_path)}.index").mtime_nsec / 1e9
            self.read = self.observer.events.saved(self._name(save_path), written_at)
            self.observer.epochs.read(reader, self.read)

    def _is_watched(self, path: Any) -> bool:
        """Return whether a checkpoint is read or written now, and not by a thread that copies."""
        now = tf.executing_eagerly() and threading.current_thread() is self.thread
        return now and isinstance(path, str | os.PathLike)

    def _name(self, path: str | os.PathLike[str]) -> str:
        """Return a checkpoint's path, in the folder of the run without that."""
        text = os.fspath(path)
        whole = text if "://" in text else str(pathlib.Path(text).absolute())
        return whole.removeprefix(f"{self.observer.dir}/")

    def _watched_restore(self, restore: Callable) -> Callable:
        def watched(checkpoint: Any, save_path: Any, *args: Any, **named: Any) -> Any:
            manager = self._manager_of(checkpoint)
            if manager is None:
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
                self.observer.restored(self.read, steps_in(path))
                self.is_new, self.saved_at = self.observer.step == 0, time.monotonic()
                return status
            if paths or self._has_saved(folder):
                raise SystemExit(
                    "Needs a checkpoint to resume from; those that this run saved in "
                    f"{folder} are missing or damaged. Restore that folder from a copy, "
                    "or start a new run."
                )
            self.observer.restored(None, 0)
            self.is_new, self.saved_at = True, time.monotonic()
            return restore(checkpoint, None, *args, **named)

        return watched

    def check_fits(self) -> None:
        """End the script if it does not expect that the checkpoint lacks some of its variables."""
        if self.misfit is not None:
            raise self.misfit[1]

    def _note_partial(self, status: Any) -> None:
        if self.misfit is not None and status is self.misfit[0]:
            self.misfit = None

    def _note_folder(self, checkpoint_dir: Any, *_: Any, **__: Any) -> None:
        self.asked_folder = checkpoint_dir
        mend_list(checkpoint_dir)

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

    def _has_saved(self, folder: pathlib.Path) -> bool:
        """Return whether this run has saved a checkpoint in a folder before."""
        inside = self._name(folder / "checkpoint").removesuffix("checkpoint")
        return any(
            event["event"] == "checkpoint" and event.get("checkpoint", "").startswith(inside)
            for events in self.observer.events.of_run()
            for event in events
        )


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
