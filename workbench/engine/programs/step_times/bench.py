"""The objects of a run's script, with ways to time a step as it runs and without some parts."""

import contextlib
import json
import os
import pathlib
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


class Bench:
    """The objects that a script's `main` makes, and ways to time a step with them, in seconds."""

    def __init__(self, run_dir: pathlib.Path, steps_per_call: int, scratch: str) -> None:
        from workbench_observe.folder.events import task_of
        from workbench_observe.watch import Watch

        self.script = script = import_script(run_dir / "train.py")
        tf_config = os.environ.get("TF_CONFIG") or "{}"
        self.task = task_of(tf_config)
        """The name of this worker."""
        folder = pathlib.Path(scratch)
        (folder / self.task).mkdir()
        plan = json.loads((run_dir / "plan.json").read_text())
        norms = bool(plan["config"].get("gradient_norms"))
        self.watch = Watch(folder, self.task, threading.Event(), tf_config, measures_norms=norms)
        self.strategy = script.make_strategy()
        self.model = self.make_model(self.strategy)
        self.watch.workers.use(self.strategy)
        self.tasks = len(self.watch.workers.tasks)
        self.own_call = script.make_calls(self.strategy, self.model, steps_per_call)
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

        def time_alone() -> float:
            with self.watch.workers.apart():
                return timed(steps, own, self.steps)

        return time_alone

    def whole(self) -> tuple[float, float]:
        """Return the seconds of a step as it runs, and the observer's part of them."""
        self.use_up()
        began, in_calls = time.perf_counter(), self.seconds_in_calls()
        for _ in range(self.calls):
            self.own_call(self.data)
        self.used_at = time.perf_counter()
        seconds, done = self.used_at - began, self.calls * self.steps_per_call
        return seconds / done, (seconds - (self.seconds_in_calls() - in_calls)) / done

    def seconds_in_calls(self) -> float:
        """Return the seconds of all recorded calls so far."""
        return float(self.watch.epochs.sums[3] + self.watch.epochs.unshared[3])

    def own_pace(self) -> float:
        """Time a step with its data, while this worker waits for no other worker."""
        with without_sum(self.strategy), self.watch.workers.apart():
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
        self.own_call(self.data)
        while self.largest(time.perf_counter() < until):
            self.own_call(self.data)

    def largest(self, value: float) -> float:
        """Return the largest value of all workers. Each worker waits here until all have come."""
        if self.tasks == 1:
            return value
        places = np.zeros(self.tasks)
        places[self.number] = value
        return float(self.watch.workers.summed(places).max())

    @property
    def number(self) -> int:
        """The number of this worker."""
        return int(self.task.rpartition("-")[2])


def timed(steps: Callable, data: Any, count: int) -> float:
    """Return the seconds of a step, in one call of `count` steps."""
    began = time.perf_counter()
    steps(data, tf.constant(count)).numpy()
    return (time.perf_counter() - began) / count
