"""What is known of a run while its script trains: steps, epochs, results."""

import contextlib
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
from .epochs import Epochs
from .folder.events import Events, NonFiniteExit, leader_of
from .folder.records import Call, Kind, LedRecords, Lost, Records
from .kerases import Patches
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
        events: Events | None = None,
        *,
        measures_norms: bool = False,
        save_seconds: float | None = None,
    ) -> None:
        """Begin: from here on, what the script calls is watched.

        `events` are those of the task, if they are open already.

        `measures_norms`: the norm of each replica's gradient is a number of each step.

        `save_seconds` is the longest time between two checkpoints; None: five minutes.
        """
        self.dir, self.stop = run_dir, stop
        self.workers = Workers(run_dir, task, tf_config, distribute_lib.StrategyBase.run)
        folder = None if run_dir is None else run_dir / task
        self.events = events or Events(folder)
        self.records = None if folder is None else Records(folder)
        self.step = 0
        self.led = LedRecords(run_dir, self.event)
        self.busy_since: float | None = None
        """The performance counter, since when workers do what this coordinator has scheduled."""
        self.weights: list[Any] = []
        self.started = self.traced_once = self.step_traced = False
        self.nonfinite = self.stopped = self.misses = False
        self.rollback: dict[str, Any] | None = None
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
        self.saving = Saving(self.patches, self, save_seconds)
        self.epochs = Epochs(self.patches, self)
        leader = None if run_dir is None else run_dir / leader_of(tf_config)
        watch_servers(self.patches, leader, task, stop, self.event)
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

    # What events of saves keep.

    def position(self) -> dict[str, Any]:
        """Return the steps done, for an event."""
        led = {"worker_steps": dict(self.led.steps)} if self.is_led else {}
        return {"step": self.step, **led}

    def counts(self) -> dict[str, Any] | None:
        """Return what a process needs to go on from here; None: unknown."""
        if self.rollback is not None:
            return self.rollback
        if not self.started and self._recorded():
            return self.epochs.reads[-1][1] if self.epochs.reads else None
        return None if self.epochs.unknown else {**self.position(), **self.epochs.counts()}

    def counts_at(self, step: int) -> dict[str, Any]:
        """Return what is known of a step from which a process goes on."""
        led = {"worker_steps": self.led.recorded()} if self.is_led and step else {}
        return {**self.events.counts_at(step), **led}

    def restored(self, counts: dict[str, Any] | None, steps: int) -> None:
        """Go on from there; if this process has begun, only once it trains again.

        `steps` are those that the script has counted.
        """
        known = {**(counts or self.counts_at(steps)), "counted": steps}
        self.epochs.reads.clear()
        if not self.started:
            self._go_on(known)
        elif counts or steps:
            self.rollback = known

    def _go_on(self, counts: dict[str, Any]) -> None:
        self.step, self.rollback = counts["step"], None
        known = counts.get("worker_steps", {})
        self.led.steps = {worker: known.get(worker, 0) for worker in self.led.steps}
        self.epochs.go_on(counts)
        self._start(counts.get("counted"))

    # What the script runs.

    def _start(self, counted: int | None = None) -> None:
        """Begin the records; `counted` are the steps that the script has counted, if known."""
        self.started = True
        self.flush()
        with contextlib.suppress(OSError):  # on a full disk, the first call begins them
            if self.records is not None:
                self.records.begin(self.step)
            self.led.begin()
        count = len(self.led.steps or self.workers.tasks)
        led = {"counted": counted} if self.is_led and counted is not None else {}
        self.event("start", **self.position(), epoch=self.epochs.over, workers=count, **led)
        if self.step_traced:
            self.event("traced", seconds=0.0)

    def _ran(self, strategy: Any) -> None:
        self.workers.use(strategy)
        central = tf.distribute.experimental.CentralStorageStrategy
        self.epochs.miscounts = isinstance(strategy, central)  # with it, metrics of Keras 3 do
        self.saving.check_fits()
        outside = self.calls.ran()
        if not (self.started or self._recorded()):
            self._start()
        if tf.executing_eagerly() and self.span is None:
            self.span, self.enters = (time.time(), time.perf_counter()), True
        if not (outside or self.traced_once or tf.executing_eagerly()):
            self.traced_once, self.tracing_since = True, time.perf_counter()
            self.event("tracing")

    def _stepped(self, step: Step) -> None:
        if not self.started and step.trains:  # an earlier process has left records
            self._go_on(self._done_before(step.optimizer))
        self.calls.stepped(step.trains)
        self.epochs.measured.updated[step.trains].update(map(id, step.metrics))
        if step.trains:
            self.weights, self.epochs.optimizer = step.weights, step.optimizer
        if tf.executing_eagerly():
            if self.enters:
                began, self.enters = self.span, False
                self.enter(step.trains)
                self.span = began
            if self.calls.current is None:
                self.leave()

    def _recorded(self) -> int:
        """Return the steps that earlier processes have recorded."""
        if self.is_led:
            return sum(self.led.recorded().values())
        return self.records.steps() if self.records else 0

    def _done_before(self, optimizer: Any) -> dict[str, Any]:
        """Return where training goes on after an earlier process, without a manager.

        The checkpoint of the optimizer tells it, or else its number of calls.
        """
        if (counts := self.epochs.read_with(optimizer)) is not None:
            return counts
        recorded = self._recorded()
        if optimizer is None:
            return self.counts_at(recorded)
        with tf.init_scope():
            done = int(kerases.calls_of(optimizer).numpy())
        done -= tf.executing_eagerly()  # then the step itself is done
        return self.counts_at(min(done, recorded))

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
        if not trains and not self.epochs.testing:
            self.check_weights()
        self.epochs.enter(trains=trains)

    def leave(self) -> None:
        """End a call of steps: record them, and stop or save if it is time."""
        self._commit(time.perf_counter())
        self.span = None
        wishes = [self.nonfinite, self.stop.is_set(), self.saving.is_due()]
        with self.lock:
            unshared, now = self.epochs.unshared, self.epochs.testing
            sums = self.workers.exchanged([*wishes, *unshared], now=now)
            if sums is None:
                return
            self.epochs.add(sums[3:])
        self._act(*map(bool, sums[:3]))

    def _act(self, nonfinite: bool, stop: bool, due: bool) -> None:
        if nonfinite:
            raise NonFiniteExit
        if stop:
            self.saving.save_all(stopping=True)
            self.stopped = True
            self.end("stopped")
            sys.exit(0)
        if due:
            self.saving.save_all()

    # What a coordinator schedules.

    @property
    def is_led(self) -> bool:
        """Whether workers do the steps, which this process leads."""
        return bool(self.led.steps)

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
            self._act(self.nonfinite, self.stop.is_set(), True)

    def all_done(self) -> None:
        """Workers have done all that was scheduled."""
        self.take_calls()
        self.busy_since = None

    def take_calls(self) -> None:
        """Record what the workers have done."""
        with self.lock:
            for call in self.scheduled.take():
                if call.kind.trains:
                    if self.rollback is not None:
                        self._go_on(self.rollback)
                    self._note_broken(call.worker, self.led.add(call))
                    self.step += len(call.rows)
                self.epochs.add_rows(call.rows, 0.0, trains=call.kind.trains)
            if self.busy_since is not None:
                now = time.perf_counter()
                self.epochs.unshared[3] += 0.0 if self.epochs.testing else now - self.busy_since
                self.busy_since = now

    def _note_broken(self, worker: int, step: int | None) -> None:
        if step is not None and not self.nonfinite:
            self.event("nonfinite", step=step, worker=worker, replica=worker)
            self.nonfinite = True

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
        if not kind.trains:
            self.epochs.add_rows(rows, seconds, trains=False)
            return
        if self.rollback is not None:
            self._go_on(self.rollback)
        if self.records is not None:
            self._report(self.records.add(Call(self.step, kind, rows, start, seconds)))
        broken = [] if self.nonfinite else np.argwhere(~np.isfinite(rows[..., 0]))[:1].tolist()
        for step, replica in broken:
            number = self.workers.first_replica(rows.shape[1]) + replica
            self.event("nonfinite", step=self.step + step, replica=number)
            self.nonfinite = True
        self.step += len(rows)
        self.epochs.add_rows(rows, seconds, trains=True)

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
            raise NonFiniteExit

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
            self.epochs.share()
        self.epochs.end()
        self.report_memory()
        unsaved, nonfinite = self.workers.summed([self.saving.unsaved, self.nonfinite])
        if nonfinite:
            raise NonFiniteExit
        if unsaved:
            self.saving.save_all()
        self.end("finished", **self.epochs.result)

    def end(self, name: str, **values: Any) -> None:
        """Report how the run ended, and wait until that is on disk, and for the other workers."""
        self.flush()
        if self.records is not None and not self.started:  # it only tested
            self.step = self.records.steps()
        self.events.last(name, step=self.step, **values)
        self.workers.leave_together()
