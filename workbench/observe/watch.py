"""What is known of a run while its script trains: steps, epochs, results."""

import contextlib
import json
import pathlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.distribute import distribute_lib

from . import kerases
from .calls import Calls, Runs
from .closing import Closing
from .measured import Measured
from .patches import Patches
from .records import Call, Events, Kind, LedRecords, Lost, Records
from .rows import Step
from .saving import Saving
from .scheduled import Scheduled, watch_servers
from .workers import Workers

COMMIT_SECONDS = 0.25
"""The steps of a long call are recorded while it runs, in parts of about this time."""

IN_XLA = "the function that XLA compiles has the loop of the steps in it; compile each step alone"


class Watch:
    """The observer of one script, until it is left as a context."""

    def __init__(
        self,
        run_dir: pathlib.Path | None,
        task: str,
        stop: threading.Event,
        tf_config: str = "",
        *,
        measures_norms: bool = False,
    ) -> None:
        """Begin: from here on, what the script calls is watched.

        `measures_norms`: the norm of each replica's gradient is a number of each step.
        """
        self.dir, self.stop = run_dir, stop
        self.workers = Workers(run_dir, task, tf_config, distribute_lib.StrategyBase.run)
        folder = None if run_dir is None else run_dir / task
        self.events = Events(folder)
        self.records = None if folder is None else Records(folder)
        self.step = self.epoch = 0
        self.led = LedRecords(run_dir, self.event)
        self.busy_since: float | None = None
        """The performance counter, since when workers do what this coordinator has scheduled."""
        self.other = ""
        """The counts in a checkpoint of another training, as text."""
        self.sums, self.tests = np.zeros(4), np.zeros(3)
        """Loss, correct answers and examples of this epoch so far; of training, also seconds."""
        self.unshared = np.zeros(7)
        """What this worker has to add to both, in the same order."""
        self.result: dict[str, float] = {}
        self.metrics: dict[str, float | None] = {}
        """What the model has measured in this epoch, beside loss and accuracy."""
        self.unread = self.partial = self.miscounts = False
        """Whether steps were done since it was read; whether an earlier process began this epoch;
        whether the metrics of Keras miscount.
        """
        self.weights: list[Any] = []
        self.started = self.testing = self.traced_once = self.step_traced = False
        self.nonfinite = self.stopped = self.misses = self.has_tests = False
        self.epoch_over = self.tested = False
        """Whether an epoch of `fit` is over; whether the model was tested since it trained."""
        self.rollback: tuple[str, int] | None = None
        """The counts that were restored after steps of this process, until it trains again."""
        self.tracing_since = 0.0
        self.span: tuple[float, float] | None = None
        """When the steps that are not yet recorded began: wall clock, performance counter."""
        self.enters = False
        """Whether they are the first of a call, and run eagerly."""
        self.is_cold = True
        """Whether this process has not trained yet."""
        self.lock = threading.RLock()
        self.patches, self.over = Patches(), threading.Event()
        self.scheduled = Scheduled(self.patches, self)
        self.runs = Runs(
            self.patches,
            self.scheduled.put,
            self._ran,
            self._stepped,
            self._missed,
            measures_norms=measures_norms,
        )
        self.calls = Calls(self.patches, self, self.runs.compiled)
        self.saving = Saving(self.patches, self)
        self.measured = Measured(self.patches, self.read_metrics, self.evaluated, self.fitted)
        watch_servers(self.patches, run_dir, task, stop, self.event)
        self.closing = Closing(self.patches, self.over)
        threading.Thread(target=self._follow, daemon=True).start()

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, *_: object) -> None:
        """End: nothing is watched any more."""
        self.over.set()
        self._commit(time.perf_counter())
        self.flush()
        self.patches.undo()

    def event(self, name: str, **values: Any) -> None:
        """Report an event, once the steps before it are written."""
        self.flush()
        self.events.add(name, **values)

    def flush(self) -> None:
        """Write what waits to be written."""
        with self.lock:
            if self.records is not None:
                self._report(self.records.flush())
            self.led.flush()

    def _report(self, lost: Lost | None) -> None:
        if lost:
            self.events.add("unrecorded", **lost._asdict())

    # What the script's checkpoints keep.

    def state(self) -> str:
        """Return the counts, as text."""
        if self.rollback is not None and self.rollback[0]:
            return self.rollback[0]
        counts = {"step": self.step, "epoch": self.epoch, "sums": self.sums.tolist()}
        led = {"worker_steps": self.led.steps} if self.led.steps else {}
        return json.dumps({**counts, **led, "result": self.result, "metrics": self.metrics})

    def restored(self, state: str, steps: int) -> None:
        """Go on from a checkpoint's state; without one, from so many steps."""
        if not self.started:
            self._go_on(state, steps)
        elif state or steps:
            self.rollback = state, steps

    def _go_on(self, state: str, steps: int) -> None:
        counts: dict[str, Any] = (
            json.loads(state) if state else {"step": steps, "epoch": self.events.epochs_at(steps)}
        )
        self.unshared, self.epoch_over, self.tested = np.zeros(7), False, False
        self.step, self.epoch, self.rollback = counts["step"], counts["epoch"], None
        self.sums = np.array(counts.get("sums", [0.0] * 4))
        known = counts.get("worker_steps", {})
        self.led.steps = {worker: known.get(worker, 0) for worker in self.led.steps}
        self.result, self.metrics = counts.get("result", {}), counts.get("metrics", {})
        self.partial, self.has_tests = bool(self.sums[2]), "test_loss" in self.result
        self._start(steps)

    def loaded(self, state: str) -> None:
        """Note the counts in a checkpoint that no manager of this script keeps."""
        self.other = state

    # What the script runs.

    def _start(self, counted: int = 0) -> None:
        """Begin the records; `counted` are the steps from which the script goes on."""
        self.started = True
        self.flush()
        with contextlib.suppress(OSError):  # on a full disk, the first call begins them
            if self.records is not None:
                self.records.begin(self.step)
            self.led.begin()
        steps = self.led.steps
        led = {"counted": counted, "worker_steps": steps} if steps else {}
        count = len(steps or self.workers.tasks)
        self.event("start", step=self.step, epoch=self.epoch, workers=count, **led)
        if self.step_traced:
            self.event("traced", seconds=0.0)

    def _ran(self, strategy: Any) -> None:
        self.workers.use(strategy)
        central = tf.distribute.experimental.CentralStorageStrategy
        self.miscounts = isinstance(strategy, central)  # with it, metrics of Keras 3 do
        self.saving.check_fits()
        outside = self.calls.ran()
        if not (self.started or (self.records and self.records.steps())):
            self._start()
        if tf.executing_eagerly() and self.span is None:
            self.span, self.enters = (time.time(), time.perf_counter()), True
        if not (outside or self.traced_once or tf.executing_eagerly()):
            self.traced_once, self.tracing_since = True, time.perf_counter()
            self.event("tracing")

    def _stepped(self, step: Step) -> None:
        if not self.started and step.trains:  # an earlier process has left records
            self._go_on("", self._done_before(step.optimizer))
        self.calls.stepped(step.trains)
        self.measured.updated[step.trains].update(map(id, step.metrics))
        if step.trains:
            self.weights = step.weights
        if tf.executing_eagerly():
            if self.enters:
                began, self.enters = self.span, False
                self.enter(step.trains)
                self.span = began
            if self.calls.current is None:
                self.leave()

    def _done_before(self, optimizer: Any) -> int:
        """Return the step from which training goes on after an earlier process, without a manager.

        The optimizer tells it, if it counts the steps that are recorded.
        """
        recorded = self.records.steps() if self.records else 0
        if optimizer is None:
            return recorded
        with tf.init_scope():
            done = int(kerases.calls_of(optimizer).numpy())
        return min(done - tf.executing_eagerly(), recorded)  # eagerly, the step itself is done

    def _missed(self) -> None:
        if not self.misses:
            self.misses = True
            self.event("not_recorded", reason=IN_XLA)

    def traced(self) -> None:
        """Report the first trace of steps."""
        if self.span is None and not self.step_traced:
            self.step_traced = True
            self.event("traced", seconds=round(time.perf_counter() - self.tracing_since, 3))

    def enter(self, trains: bool) -> None:
        """Begin a call of steps."""
        self._enter_phase(trains)
        self.workers.enter(self.step)
        self.span = time.time(), time.perf_counter()

    def _enter_phase(self, trains: bool) -> None:
        if not trains and not self.testing:
            self.check_weights()
            self.event("test", epoch=self.epoch + 1)
            self.tests = np.zeros(3)
        elif trains and (self.testing or self.epoch_over):
            if not self.testing and self.workers.count > 1:  # all of them are here
                with self.lock:
                    self._add(self.workers.summed(self.unshared))
            self.end_epoch()
        self.testing, self.unread = not trains, True

    def leave(self) -> None:
        """End a call of steps: record them, and stop or save if it is time."""
        self._commit(time.perf_counter())
        self.span = None
        wishes = [self.nonfinite, self.stop.is_set(), self.saving.is_due()]
        with self.lock:
            sums = self.workers.exchanged([*wishes, *self.unshared], now=self.testing)
            if sums is None:
                return
            self._add(sums[3:])
        self._act(*map(bool, sums[:3]))

    def _act(self, nonfinite: bool, stop: bool, due: bool) -> None:
        if nonfinite:
            sys.exit(3)
        if stop:
            self.saving.save_all(stopping=True)
            self.stopped = True
            self.end("stopped")
            sys.exit(0)
        if due:
            self.saving.save_all()

    # What a coordinator schedules.

    def lead(self, workers: int) -> None:
        """Lead so many workers, whose steps are recorded instead of steps of this process."""
        self.led.steps = {f"worker-{number}": 0 for number in range(workers)}
        self.records = None

    @contextlib.contextmanager
    def scheduling(self, function: Any) -> Iterator[None]:
        """Watch how a function is scheduled, and traced before its first call."""
        known = self.trains(function)
        if known is not None:
            self._enter_phase(known)
        self.calls.current = function
        try:
            yield
        finally:
            self.calls.current = None
        trains = self.trains(function)
        if trains is not None and self.busy_since is None:
            self.busy_since = time.perf_counter()
        if trains is not None and known is None:
            self.traced()
            self._enter_phase(trains)

    def trains(self, function: Any) -> bool | None:
        """Return whether a function trains, or tests; None if it runs no steps."""
        return self.calls.kinds.get(function)

    def leave_scheduled(self, settle: Callable[[], None]) -> None:
        """Stop or save if it is time; `settle` waits for the calls that are not done."""
        self.take_calls()
        if self.nonfinite or self.stop.is_set() or self.saving.is_due():
            settle()
            self._add_own()
            self._act(self.nonfinite, self.stop.is_set(), True)

    def all_done(self) -> None:
        """Workers have done all that was scheduled."""
        self.take_calls()
        self.busy_since = None

    def take_calls(self) -> None:
        """Record what the workers have done."""
        with self.lock:
            for call in self.scheduled.take():
                sums = call.rows[..., :3].sum(axis=(0, 1), dtype=float)
                if call.kind.trains:
                    if self.rollback is not None:
                        self._go_on(*self.rollback)
                    self._note_broken(call.worker, self.led.add(call))
                    self.step += len(call.rows)
                    self.unshared[:3] += sums
                elif not self.tested:
                    self.unshared[4:] += sums
            if self.busy_since is not None:
                now = time.perf_counter()
                self.unshared[3] += 0.0 if self.testing else now - self.busy_since
                self.busy_since = now

    def _note_broken(self, worker: int, step: int | None) -> None:
        if step is not None and not self.nonfinite:
            self.event("nonfinite", step=step, worker=worker, replica=worker)
            self.nonfinite = True

    def _add(self, sums: np.ndarray) -> None:
        """Add what all workers have done."""
        sums[3] /= self.workers.count  # seconds
        self.sums += sums[:4]
        self.tests += sums[4:]
        self.unshared[:] = 0

    def _add_own(self) -> None:
        """Add what this process alone has done or led."""
        with self.lock:
            self._add(self.unshared.copy())

    def _follow(self) -> None:
        """Record the steps of a long call while it runs."""
        while not self.over.wait(COMMIT_SECONDS):
            with self.lock:
                span = self.span
                if span is not None and time.perf_counter() - span[1] > COMMIT_SECONDS:
                    self._commit(None)
                elif span is None and self.runs.waiting():  # another thread trains
                    self._commit(None)
                    self.span = None
                self.take_calls()
                self.flush()

    def _commit(self, now: float | None) -> None:
        """Record the steps done since the last time; `now` is the end of the call."""
        with self.lock:
            parts = sorted(self.runs.take(ended=now is not None), key=lambda part: part[2][-1])
            for number, (kind, rows, times) in enumerate(parts, 1):
                wall, began = self.span or (times[0], time.perf_counter())
                ended = began + max(0.0, times[-1] - wall)
                if now is not None and number == len(parts):
                    ended = now
                seconds, first = ended - began, times[0] - wall
                if kind.trains and self.is_cold and 0 < first < seconds and len(rows) > 1:
                    # The first step warms up, so it is a part of its own.
                    self._take(kind, rows[:1], wall, first)
                    self._take(kind, rows[1:], wall + first, seconds - first)
                else:
                    self._take(kind, rows, wall, seconds)
                self.is_cold = self.is_cold and not kind.trains
                self.span = wall + seconds, ended

    def _take(self, kind: Kind, rows: np.ndarray, start: float, seconds: float) -> None:
        sums = rows[..., :3].sum(axis=(0, 1), dtype=float)
        if not kind.trains:
            if not self.tested:
                self.unshared[4:] += sums
            return
        if self.rollback is not None:
            self._go_on(*self.rollback)
        if self.records is not None:
            self._report(self.records.add(Call(self.step, kind, rows, start, seconds)))
        broken = [] if self.nonfinite else np.argwhere(~np.isfinite(rows[..., 0]))[:1].tolist()
        for step, replica in broken:
            number = self.workers.first_replica(rows.shape[1]) + replica
            self.event("nonfinite", step=self.step + step, replica=number)
            self.nonfinite = True
        self.step += len(rows)
        self.unshared[:4] += [*sums, seconds]

    def read_metrics(self) -> None:
        """Read what the model has measured since the last time."""
        if not self.unread or self.tested or self.measured.model is None:
            return
        self.unread = False
        if self.led.steps and not self.testing:
            return  # workers that do not wait for each other lose some counts
        phase, sums = ("test_", self.tests) if self.testing else ("", self.sums)
        own = self.unshared[4:] if self.testing else self.unshared[:4]
        results = self.measured.results(trains=not self.testing)
        if self.partial or self.miscounts:
            examples = sums[2] + self.workers.summed(own[2:3])[0]
            if not self.measured.has_counted(examples):
                results = dict.fromkeys(results)
        self.metrics |= {phase + name: value for name, value in results.items()}

    def saves(self) -> None:
        """Note that the script saves by itself: an epoch ends there, or after its tests."""
        if self.testing or self.epoch_over or not self.has_tests:
            self.end_epoch()

    def fitted(self) -> None:
        """Note the end of an epoch of `fit`, whose tests may follow."""
        self.epoch_over = True

    def end_epoch(self) -> None:
        """Report the results of an epoch, unless no step was done since the last one."""
        self.take_calls()
        with self.lock:
            self._end_epoch()

    def _end_epoch(self) -> None:
        self.read_metrics()
        self.epoch_over = self.tested = False
        if self.workers.count == 1:
            self._add_own()
        if not self.sums[2]:
            self._end_test()
            return
        self.has_tests = self.has_tests or bool(self.tests[2])
        results = {"loss": self.sums[0] / self.sums[2], "accuracy": self.sums[1] / self.sums[2]}
        if self.tests[2]:
            tested = self.tests / self.tests[2]
            results |= {"test_loss": tested[0], "test_accuracy": tested[1]}
        results["examples_per_second"] = self.sums[2] / self.sums[3]
        if self.unshared.any():
            results = {}  # this worker does not know them
        self.result = {name: float(f"{value:.6g}") for name, value in results.items()}
        self.epoch += 1
        self.sums, self.tests, self.testing = np.zeros(4), np.zeros(3), False
        self.unshared = np.zeros(7)
        more: dict[str, Any] = {"metrics": self.metrics} if self.metrics else {}
        more |= {"worker_steps": self.led.steps} if self.led.steps else {}
        self.event("epoch", epoch=self.epoch, step=self.step, **self.result, **more)
        self.metrics, self.partial = {}, False

    def evaluated(self) -> None:
        """Note the end of a test: the first one after the training is that of the epoch.

        If this script only reads the training of the model, report it.
        """
        self.read_metrics()
        self.tested = True
        if not (self.sums[2] or self.unshared[2]):
            self.end_epoch()

    def _end_test(self) -> None:
        if self.tests[2] and self.other:
            counts, tested = json.loads(self.other), self.tests / self.tests[2]
            named = {"test_loss": tested[0], "test_accuracy": tested[1]}
            results = {name: float(f"{value:.6g}") for name, value in named.items()}
            more = {"metrics": self.metrics} if self.metrics else {}
            self.event("evaluated", epoch=counts["epoch"], step=counts["step"], **results, **more)
        self.tests, self.metrics, self.testing = np.zeros(3), {}, False

    def check(self) -> None:
        """Report the memory, and end the run if its weights are not worth saving."""
        self.check_weights()
        self.report_memory()

    def check_weights(self) -> None:
        """End the run if a weight is not a finite number: a checkpoint with it would be useless."""
        weights = map(tf.convert_to_tensor, self.weights)
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

    def finish(self) -> None:
        """Report that the script has ended as it should."""
        self.saving.check_fits()
        self._commit(time.perf_counter())  # steps of a call that raised an error
        if self.workers.count > 1:
            with self.lock:
                self._add(self.workers.summed(self.unshared))
        self.end_epoch()
        self.report_memory()
        unsaved, nonfinite = self.workers.summed([self.saving.unsaved, self.nonfinite])
        if nonfinite:
            sys.exit(3)
        if unsaved:
            self.saving.save_all()
        self.end("finished", **self.result)

    def end(self, name: str, **values: Any) -> None:
        """Report how the run ended, and wait until that is on disk, and for the other workers."""
        self.flush()
        if self.records is not None and not self.started:  # it only tested
            self.step = self.records.steps()
        self.events.last(name, step=self.step, **values)
        self.workers.leave_together()
