# ---- Recorder: the same in every script. It records, saves, stops and resumes. ----
# ruff: noqa: E402, F811
import argparse
import atexit
import contextlib
import ctypes
import json
import os
import pathlib
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
import tensorflow as tf


class Records:
    """The records of one worker: an array of its steps, and a log of its calls."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder, self.begun = folder, False

    def begin(self, step: int) -> None:
        """Begin an attempt at this step: what was recorded from there on no longer counts."""
        self.write("calls.f8", np.array([step, 0, time.time(), 0]))
        self.begun = True

    def append(self, step: int, rows: np.ndarray, start: float, seconds: float) -> None:
        """Record a call of len(rows) steps from `step` on: rows [steps, replicas, 3]."""
        if not self.begun:
            self.begin(step)
        self.write(f"steps.f{rows.itemsize}", rows, step * rows[0].nbytes)
        self.write("calls.f8", np.array([step, len(rows), start, seconds]))

    def write(self, name: str, values: np.ndarray, at: int | None = None) -> None:
        """Write at byte `at`, or after the last complete call, in place of all that follows."""
        with open(self.folder / name, "ab") as file:
            end = file.tell() // 32 * 32 if at is None else at
            file.truncate(end)
            file.write(values.astype(values.dtype.newbyteorder("<")).tobytes())


class Metrics:
    """The metrics of a compiled model besides its loss, during the test passes.

    Training leaves them alone: Keras counts with a read and a write, so workers lose counts.
    """

    def __init__(self, model: tf.keras.Model) -> None:
        # Each output's loss is left out, too: in it, a short batch weighs as much as a full one.
        losses = getattr(model, "_compile_loss", None) or getattr(model, "compiled_loss", None)
        left_out = {id(metric) for metric in getattr(losses, "metrics", [])}
        kept = [each for each in model.metrics if each.name != "loss" and id(each) not in left_out]
        self.metrics = list({id(metric): metric for metric in kept}.values())
        self.testing, self.updated = False, set[int]()
        for metric in self.metrics:
            metric.update_state = self.watched(metric)

    def watched(self, metric: Any) -> Callable:
        """Return the metric's update, which also notes that the steps of a test call it."""
        update = metric.update_state

        def noted(*values: Any, **named: Any) -> Any:
            if not self.testing:
                return None
            self.updated.add(id(metric))
            return update(*values, **named)

        return noted

    def begin(self) -> None:
        """Begin a test pass."""
        for metric in self.metrics:
            metric.reset_state()
        self.testing = True

    def end(self) -> dict[str, float | None]:
        """End a test pass; return its results. None: unknown, because no step updated the metric.

        The user's step may leave it out.
        """
        values = dict[str, float | None]()
        for metric in self.metrics:
            result = metric.result()
            results = result if isinstance(result, dict) else {metric.name: result}
            for name, value in self.named(results):
                rounded = value if value.is_integer() else float(f"{value:.6g}")
                known = id(metric) in self.updated and np.isfinite(value)
                values[f"test_{name}"] = rounded if known else None
        self.testing = False
        return values

    def named(self, results: dict[str, Any], before: str = "") -> Iterator[tuple[str, float]]:
        """Yield names and numbers; leave out arrays, such as one value per class, and None."""
        for name, value in results.items():
            if isinstance(value, dict):
                yield from self.named(value, f"{before}{name}_")
            elif np.ndim(value) == 0 and np.asarray(value).dtype.kind in "biuf":
                yield before + name, float(value)


def keep_freed_memory() -> None:
    """Let glibc keep freed memory.

    With input for several devices, TensorFlow makes glibc return it at once
    (generator_dataset_op.cc), which can double the time of a step.
    """
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(-3, 2**25)  # M_MMAP_THRESHOLD, in bytes
        libc.mallopt(-2, 2**28)  # M_TOP_PAD, in bytes


def run_and_leave(run: Callable, **arguments: Any) -> None:
    """Run a function, then end this process without closing its pipelines.

    TensorFlow can take a minute to close one: OptimizeLoop in model.cc sleeps on, because
    StartCancel in cancellation.cc wakes it before it tells it to end.
    """
    keep_freed_memory()
    status: Any = 0
    try:
        run(**arguments)
    except SystemExit as end:
        status = end.code or 0
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
        status = 130 if isinstance(error, KeyboardInterrupt) else 1
    if not isinstance(status, int):
        print(status, file=sys.stderr)
        status = 1
    vars(threading)["_shutdown"]()  # waits for threads, as Python does at its end
    atexit._run_exitfuncs()
    for stream in sys.stdout, sys.stderr:
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(status)


class Recorder:
    """A runner of steps that prints events; with --run-dir, it writes all that a resume needs."""

    save_seconds = 300.0  # the longest time between two checkpoints
    first_save_seconds = 60.0  # of a new run, which saves earlier at a hundredth of its steps
    no_room = re.compile("No space left|quota exceeded")  # in the error of a full disk
    pipelines: ClassVar[dict[str, Any]] = {}  # held open: see run_and_leave

    def __init__(self) -> None:
        options = argparse.ArgumentParser()
        options.add_argument("--run-dir", type=pathlib.Path)
        self.dir = options.parse_known_args()[0].run_dir
        config = json.loads(os.environ.get("TF_CONFIG") or "{}")
        task, self.cluster = config.get("task", {}), config.get("cluster", {})
        self.task = f"{task.get('type', 'worker')}-{task.get('index', 0)}"
        self.stop, self.saved_at, self.unwritten = threading.Event(), time.monotonic(), ""
        self.unsaved = False
        self.steps_per_call, self.result, self.more = 1, dict[str, float](), dict[str, Any]()
        if self.dir:
            self.task_dir = self.dir / self.task
            self.task_dir.mkdir(parents=True, exist_ok=True)
            threading.Thread(target=self.listen, daemon=True).start()
        self.event("imported")

    def restore(
        self, strategy: tf.distribute.Strategy, model: tf.keras.Model, **more: tf.Variable
    ) -> None:
        """Build the optimizer and resume from the last checkpoint."""
        self.strategy, self.model = strategy, model
        with strategy.scope():
            model.optimizer.build(model.trainable_variables)
        self.metrics = Metrics(model)
        self.progress = tf.Variable([0.0] * 6, dtype=tf.float64)
        if self.dir:
            weights = {id(weight) for weight in model.weights}
            seeds = [each.value for each in model.variables if id(each) not in weights]  # Dropout
            state = {"model": model, "optimizer": model.optimizer, "progress": self.progress}
            checkpoint = tf.train.Checkpoint(**state, **more, seeds=seeds)
            kept = self.dir / "checkpoints"
            try:
                (kept / "checkpoint").read_text()
            except UnicodeDecodeError:  # a damaged list of names, which a manager cannot read
                (kept / "checkpoint").unlink()
            except OSError:
                pass  # it does not exist yet
            self.saves = tf.train.CheckpointManager(checkpoint, str(kept), max_to_keep=3)
            self.resume(tf.train.Checkpoint(**state, **more), checkpoint)
        self.step, self.epoch = self.progress.numpy()[:2].astype(int).tolist()
        self.sums = self.progress.numpy()[2:]  # loss, correct, examples, seconds of this epoch
        self.is_new, self.saved_at = self.step == 0, time.monotonic()

    def resume(self, needed: tf.train.Checkpoint, checkpoint: tf.train.Checkpoint) -> None:
        """Restore the newest readable checkpoint, even if the list of names leaves it out."""
        folder = self.dir / "checkpoints"
        numbers = [path.stem.rpartition("-")[2] for path in folder.glob("ckpt-*.index")]
        for number in sorted(map(int, filter(str.isdigit, numbers)), reverse=True):
            try:
                saved = str(folder / f"ckpt-{number}")
                self.check_kind(saved)
                # Otherwise a checkpoint of another model could be restored in part.
                needed.restore(saved).assert_existing_objects_matched()
                checkpoint.restore(saved)
                return
            except (tf.errors.OpError, LookupError, RuntimeError) as error:
                self.event("checkpoint_damaged", checkpoint=saved, error=str(error)[:500])
        events = self.dir / "chief-0" / "events.jsonl"
        if numbers or (events.exists() and '"event": "checkpoint"' in events.read_text()):
            raise SystemExit(
                f"Needs a checkpoint to resume from; those that this run saved in {folder} are "
                "missing or damaged. Restore that folder from a copy, or start a new run."
            )

    def check_kind(self, latest: str) -> None:
        """Refuse a checkpoint of replicas that step together."""
        names = [name for name, _ in tf.train.list_variables(latest)]
        if not any(name.startswith("worker_steps/") for name in names):
            raise SystemExit(
                f"Needs the checkpoint of a run of ParameterServer; {latest} is of a run whose "
                "replicas step together. Resume with its own script, or choose another --run-dir."
            )

    def listen(self) -> None:
        """Stop at a byte from the supervisor, or when its pipe closes because it died."""
        if pipe := os.environ.get("WORKBENCH_STOP_FD"):
            while os.read(int(pipe), 1):
                self.stop.set()
            self.stop.set()
            time.sleep(60)
            os._exit(1)

    def event(self, name: str, **values: Any) -> None:
        """Print an event and append it to the task's events; on a full disk it stays in memory."""
        line = {"time": time.time(), "event": name, **values}
        unknown = [key for key, each in line.items() if isinstance(each, float) and np.isnan(each)]
        self.unwritten += json.dumps({**line, **dict.fromkeys(unknown)}) + "\n"
        with contextlib.suppress(OSError):
            print(name, *(f"{key}={value}" for key, value in values.items()), flush=True)
        self.flush()

    def flush(self) -> OSError | None:
        """Write the unwritten events to disk; return the error if that fails."""
        try:
            if self.dir:
                with open(self.task_dir / "events.jsonl", "a") as file:
                    file.write(self.unwritten)
            self.unwritten = ""
        except OSError as error:
            self.unwritten = "\n" + self.unwritten.lstrip()  # ends a partly written line
            return error
        return None

    def end(self, name: str, **values: Any) -> None:
        """Report how the run ended, and wait until that is on disk."""
        self.event(name, **values)
        while self.unwritten and self.no_room.search(str(self.flush())):
            time.sleep(1)

    def save(self, *, wait: bool = False, stopping: bool = False) -> None:
        """Save the state of training. On a full disk, training goes on or, with `wait`, waits."""
        self.check_weights()
        self.progress.assign([self.step, self.epoch, *self.sums])
        self.report_memory()
        self.event("saving", step=self.step)
        error = self.write(self.saves.save, "its checkpoint", wait=wait, stopping=stopping)
        if error is None:
            name = pathlib.Path(self.saves.latest_checkpoint).name
            self.event("checkpoint", step=self.step, checkpoint=name)
        elif isinstance(error, (OSError, tf.errors.OpError)):
            self.event("checkpoint_failed", step=self.step, error=str(error)[:500])
        else:
            raise error
        self.unsaved, self.saved_at, self.is_new = error is not None, time.monotonic(), False

    @property
    def is_due(self) -> bool:
        """Whether it is time to save. A new run saves early: a resume needs a checkpoint."""
        waited = time.monotonic() - self.saved_at
        early = 100 * self.step >= EPOCHS * STEPS_PER_EPOCH or waited > self.first_save_seconds
        first = self.is_new and self.step > 0 and early
        return self.dir is not None and (waited > self.save_seconds or first)

    def write(
        self, action: Callable[[], Any], what: str, *, wait: bool, stopping: bool = False
    ) -> Exception | None:
        """Write to disk; return the error if that fails. With `wait`, wait while the disk is full.

        A stop ends that wait, unless the run is `stopping` already.
        """
        reported = False
        while True:
            error = None
            try:
                action()
            except Exception as raised:  # a full disk, or a layer that Keras cannot save
                error = raised
            if not wait:
                return error
            full = error is not None and self.no_room.search(str(error)) is not None
            if not full or (self.stop.is_set() and not stopping):
                return error
            if not reported:
                self.event("no_room", step=self.step, waits_to_save=what)
            reported = True
            time.sleep(1)

    def save_model(self) -> None:
        """Save the trained model; a failed save leaves no file."""
        path = self.dir / "model.keras"
        try:
            self.model.save(path)
        except BaseException:
            path.unlink(missing_ok=True)
            raise

    def check_weights(self) -> None:
        """End the run if a weight is not a finite number: a checkpoint with it would be useless."""
        weights = map(tf.convert_to_tensor, self.model.trainable_variables)
        numbers = [each for each in weights if each.dtype.is_floating]
        if not all(tf.reduce_all(tf.math.is_finite(each)) for each in numbers):
            message = f"The weights were not finite numbers after step {self.step}."
            self.event("nonfinite", step=self.step - 1, message=message)
            sys.exit(3)

    def report_memory(self) -> None:
        """Report the peak memory of each GPU or TPU of this process, in bytes, if it is known."""
        peaks = dict[str, int]()
        for kind in ("GPU", "TPU"):  # not of a CPU: TensorFlow fails or gives 0
            for number, _ in enumerate(tf.config.list_logical_devices(kind)):
                with contextlib.suppress(ValueError, tf.errors.OpError):  # not counted here
                    name = f"{kind}:{number}"
                    peaks[name] = tf.config.experimental.get_memory_info(name)["peak"]
        if peaks:
            self.event("device_memory", peak_bytes=peaks)

    def calls(self, steps: Callable, data: Any, count: int) -> Iterator[np.ndarray]:
        """Run steps in calls of about 0.2 s; yield the rows of each.

        Between two calls it saves if `save_seconds` have passed, and stops if requested.
        """
        while count > 0:
            stop = self.stop.is_set()
            if stop or self.is_due:
                self.save(wait=stop, stopping=stop)
            if stop:
                self.end("stopped", step=self.step)
                sys.exit(0)
            size = min(count, STEPS_PER_CALL or self.steps_per_call)
            began = time.perf_counter()
            rows = steps(data, tf.constant(size)).numpy()
            seconds = time.perf_counter() - began
            self.steps_per_call = max(1, min(int(0.2 * size / seconds), 4 * size, 10_000))
            yield rows
            count -= size

    def test(self, steps: Callable, data: Any, count: int) -> dict[str, float]:
        """Run the test pass at the end of an epoch, report the epoch's results and save."""
        self.pipelines["test"] = data
        self.check_weights()
        self.event("test", epoch=self.epoch + 1)
        self.pipelines["test"] = data
        self.metrics.begin()
        tests = sum(rows.sum(axis=(0, 1), dtype=float) for rows in self.calls(steps, data, count))
        loss, accuracy = (float(f"{mean:.6g}") for mean in tests[:2] / tests[2])
        if metrics := self.metrics.end():
            self.more["metrics"] = metrics
        self.end_epoch(test_loss=loss, test_accuracy=accuracy)
        return {"loss": loss, "accuracy": accuracy}

    def end_epoch(self, **tested: float) -> None:
        """Report the results of the current epoch and save."""
        means = *self.sums[:2] / self.sums[2], self.sums[2] / self.sums[3]
        loss, accuracy, rate = (float(f"{mean:.6g}") for mean in means)
        self.result = {"loss": loss, "accuracy": accuracy, **tested, "examples_per_second": rate}
        self.epoch, self.sums = self.epoch + 1, np.zeros(4)
        self.event("epoch", epoch=self.epoch, step=self.step, **self.result, **self.more)
        if self.dir:
            self.save()

    def finish(self) -> None:
        """Save the trained model and report that the run is complete."""
        self.report_memory()
        if self.dir:
            if self.unsaved:
                self.save(wait=True)
            error = self.write(self.save_model, "the trained model", wait=True)
            if error is None:
                self.event("model_saved")
            else:
                self.event("model_not_saved", error=str(error)[:500])
        else:
            print("The model is not kept. To keep model, checkpoints, records: --run-dir DIR")
        self.end("finished", step=self.step, **self.result)
