"""The objects of a run's script, with ways to time a step as it runs and without some parts."""

import contextlib
import json
import os
import pathlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from ..script import import_script

DATA_CALLS = 2
MOST_PAUSED_SECONDS = 1.5
BATCHES = 4
"""The factor by which a replica's batch is enlarged, to see how its time grows with the batch."""


class InMemory:
    """An iterator that gives the same batch forever."""

    def __init__(self, batch: Any) -> None:
        self.batch = batch

    def __next__(self) -> Any:
        """Return the batch. A graph uses the same tensors, so nothing is fetched or copied."""
        return self.batch


@contextlib.contextmanager
def without_sum(strategy: tf.distribute.Strategy) -> Iterator[None]:
    """Make replicas keep their own gradients: steps traced or run inside sum nothing."""
    kind, extended = tf.distribute.ReplicaContext, strategy.extended
    all_reduce = kind.all_reduce

    def keep(_: Any, __: Any, value: Any, ___: Any = None) -> Any:
        return value

    def keep_each(_: Any, pairs: Any, __: Any = None) -> list[Any]:
        return [value for value, _ in pairs]

    kind.all_reduce = keep
    extended.batch_reduce_to = keep_each
    try:
        yield
    finally:
        kind.all_reduce = all_reduce
        del extended.batch_reduce_to


def recorder_of(script: Any, scratch: pathlib.Path, steps_per_call: int) -> Any:
    """Return what records a script's calls: the observer, or the recorder of an earlier release."""
    if not hasattr(script, "Recorder"):
        return Observed(script, scratch, steps_per_call)
    script.Recorder.is_due = False
    recorder = script.Recorder()
    recorder.save_seconds = float("inf")
    return recorder


class Observed:
    """The observer, with the names by which the recorder of an earlier release is used."""

    def __init__(self, script: Any, scratch: pathlib.Path, steps_per_call: int) -> None:
        from workbench_observe.process import task_of
        from workbench_observe.watch import Watch

        tf_config = os.environ.get("TF_CONFIG") or "{}"
        self.task = task_of(tf_config)
        (scratch / self.task).mkdir()
        self.watch = Watch(scratch, self.task, threading.Event(), tf_config)
        self.tasks = len(self.watch.workers.tasks)
        self.script, self.steps_per_call = script, steps_per_call
        self.call: Callable[[Any], Any] | None = None

    @property
    def sums(self) -> np.ndarray:
        """Loss, right answers, examples and seconds of all calls so far."""
        return self.watch.sums + self.watch.unshared[:4]

    def summed(self, values: np.ndarray) -> np.ndarray:
        """Return the sums over all workers; each waits here for all others."""
        return self.watch.workers.summed(values)

    def restore(self, strategy: tf.distribute.Strategy, model: tf.keras.Model) -> None:
        """Make the calls of this model."""
        self.watch.workers.use(strategy)
        self.call = self.script.make_calls(strategy, model, self.steps_per_call)

    def train(self, _: Callable, data: Any, __: int) -> None:
        """Do and record a call."""
        assert self.call is not None
        self.call(data)


class Bench:
    """The objects that a script's `main` makes, and ways to time a step with them, in seconds."""

    def __init__(self, run_dir: pathlib.Path, steps_per_call: int, scratch: str) -> None:
        self.script = script = import_script(run_dir / "train.py")
        sys.argv = ["train.py", "--run-dir", scratch]
        self.recorder = recorder_of(script, pathlib.Path(scratch), steps_per_call)
        self.strategy = script.make_strategy()
        self.model = self.make_model(self.strategy)
        self.recorder.restore(self.strategy, self.model)
        plan = json.loads((run_dir / "plan.json").read_text())
        self.batch_axis = int(plan["pipeline"] == "indexed")  # in stacks, axis 0 is the step
        self.steps_per_call, self.steps, self.singles = steps_per_call, 2, 2
        self.calls, self.many = DATA_CALLS, 0
        self.data = iter(script.make_batches(self.strategy, 0)[0])
        self.used_at = time.perf_counter()
        both = script.make_steps(self.model)
        self.train_steps, self.own_steps = (
            script.make_loops(self.strategy, *both)[0] for _ in range(2)
        )
        self.memory = InMemory(next(self.data))

    def make_model(self, strategy: tf.distribute.Strategy) -> tf.keras.Model:
        """Return the model with its optimizer, made as the script's `main` makes it."""
        tf.keras.utils.set_random_seed(self.script.SEED)
        tf.config.run_functions_eagerly(self.script.RUN_EAGERLY)
        with strategy.scope():
            model = self.script.make_model()
            model.optimizer.build(model.trainable_variables)
        with contextlib.suppress(AttributeError, TypeError):  # a schedule cannot be set
            model.optimizer.learning_rate = 0.0
        return model

    def in_memory(self) -> float:
        """Time a step on a batch in memory, with many steps per call."""
        return timed(self.train_steps, self.memory, self.steps)

    def single(self) -> float:
        """Time the same step, with one step per call."""
        began = time.perf_counter()
        for _ in range(self.singles):
            timed(self.train_steps, self.memory, 1)
        return (time.perf_counter() - began) / self.singles

    def unsummed(self) -> float:
        """Time the same step, many per call, while no replica waits for another's gradients."""
        with without_sum(self.strategy):
            return timed(self.own_steps, self.memory, self.steps)

    def enlarged(self) -> Callable[[], float]:
        """Return a function that times an unsummed step on a batch `BATCHES` times as large."""

        def several(batch: Any) -> Any:
            return tf.nest.map_structure(
                lambda part: tf.concat([part] * BATCHES, self.batch_axis), batch
            )

        enlarge = tf.function(lambda: self.strategy.run(several, args=(self.memory.batch,)))
        larger = InMemory(enlarge())

        def enlarged() -> float:
            with without_sum(self.strategy):
                return timed(self.own_steps, larger, max(1, self.steps // BATCHES))

        return enlarged

    def solo(self) -> Callable[[], float]:
        """Return a function that times a step of the first local replica alone.

        The replica uses its own part of the batch, while the others rest.
        """
        alone = tf.distribute.OneDeviceStrategy(self.strategy.extended.worker_devices[0])
        steps, _ = self.script.make_loops(alone, *self.script.make_steps(self.make_model(alone)))
        own = InMemory(
            tf.nest.map_structure(
                lambda part: self.strategy.experimental_local_results(part)[0], self.memory.batch
            )
        )
        return lambda: timed(steps, own, self.steps)

    def whole(self) -> tuple[float, float]:
        """Return the seconds of a step as it runs, and the recorder's part of them."""
        self.use_up()
        began, in_calls = time.perf_counter(), self.recorder.sums[3]
        for _ in range(self.calls):
            self.call()
        self.used_at = time.perf_counter()
        seconds, done = self.used_at - began, self.calls * self.steps_per_call
        return seconds / done, (seconds - (self.recorder.sums[3] - in_calls)) / done

    def call(self) -> None:
        """Do and record one call, as long as the run's calls."""
        self.recorder.steps_per_call = self.steps_per_call
        self.recorder.train(self.train_steps, self.data, self.steps_per_call)

    def own_pace(self) -> float:
        """Time a step with its data, while this worker waits for no other worker."""
        with without_sum(self.strategy):
            timed(self.own_steps, self.data, self.steps_per_call)
            times = [
                timed(self.own_steps, self.data, self.steps_per_call) for _ in range(self.calls)
            ]
        self.used_at = time.perf_counter()
        return sum(times) / len(times)

    def long_call(self) -> float:
        """Time a step with its data, in one call of many steps."""
        seconds = timed(self.train_steps, self.data, self.many)
        self.used_at = time.perf_counter()
        return seconds

    def use_up(self) -> None:
        """Train on the batches that were made since the data was last used.

        It takes as long as that pause, but at most 1.5 s. As long as the pause is enough if a batch
        takes at least twice as long to make as to train on.
        """
        now = time.perf_counter()
        until = now + min(now - self.used_at, MOST_PAUSED_SECONDS)
        self.call()
        while self.largest(time.perf_counter() < until):
            self.call()

    def largest(self, value: float) -> float:
        """Return the largest value of all workers. Each worker waits here until all have come."""
        if self.recorder.tasks == 1:
            return value
        places = np.zeros(self.recorder.tasks)
        places[self.number] = value
        return float(self.recorder.summed(places).max())

    @property
    def number(self) -> int:
        """The number of this worker."""
        return int(self.recorder.task.rpartition("-")[2])


def timed(steps: Callable, data: Any, count: int) -> float:
    """Return the seconds of a step, in one call of `count` steps."""
    began = time.perf_counter()
    steps(data, tf.constant(count)).numpy()
    return (time.perf_counter() - began) / count
