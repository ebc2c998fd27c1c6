"""Times a run's step, and the same step without some of its parts, in the run's interpreter.

`step_times RUN_DIR STEPS_PER_CALL SECONDS` measures for about SECONDS seconds and prints one line
of JSON. With `serve` instead of SECONDS, it times the complete step once for each line it reads.

The run's own script gives strategy, model, data and steps. Each of several workers has such a
process, with its TF_CONFIG. Short blocks of all kinds take turns, so that other work on the machine
affects all kinds equally. The learning rate is 0, so that the weights, and the time they cost, do
not change. The run folder is only read. The recorder writes to a temporary folder, which is
removed.
"""

import contextlib
import json
import os
import pathlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from .asker import reply
from .script import import_script

BLOCK_SECONDS = 0.15
DATA_SECONDS = 0.4
DATA_CALLS = 2
MOST_STEPS = 2000
MOST_PAUSED_SECONDS = 1.5
MOST_CALLS = 500
FEWEST_ROUNDS = 9
MANY = 4
"""The fewest calls of the run that are done as one call, to time the step without the host."""
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
        self.script = script = import_script(run_dir / "train.py")
        sys.argv = ["train.py", "--run-dir", scratch]
        script.Recorder.is_due = False
        self.recorder = script.Recorder()
        self.recorder.save_seconds = float("inf")  # of scripts of earlier releases
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


def warm(kind: Callable[[], float]) -> float:
    """Return the seconds of a step in a block's second execution, when it has its memory again.

    The block before had tensors of other sizes, whose memory the allocator has given back. It also
    let the pipeline fill up.
    """
    kind()
    return kind()


def kinds_of(bench: Bench) -> tuple[dict[str, Callable[[], float]], dict[str, str]]:
    """Return functions that time each kind of step in memory, and why others cannot be timed."""
    makers: dict[str, Callable[[], Callable[[], float]]] = {
        "single": lambda: bench.single,
        "batch": bench.enlarged,
    }
    if bench.strategy.num_replicas_in_sync > 1:
        makers |= {"compute": lambda: bench.unsummed, "solo": bench.solo}
    bench.in_memory()
    kinds: dict[str, Callable[[], float]] = {"memory": bench.in_memory}
    unmeasured = dict[str, str]()
    for name, make in makers.items():
        error = ""
        try:
            kind = make()
            kind()  # traces it
        except Exception as raised:  # anything that a custom model or a device does not support
            error = f"{type(raised).__name__}: {raised}"[:300]
        if bench.largest(bool(error)):
            unmeasured[name] = error or "another worker could not"
        else:
            kinds[name] = kind
    return kinds, unmeasured


def fit_blocks(bench: Bench) -> None:
    """Choose how many steps and calls a block has, the same number in all workers.

    The shortest of a few blocks counts, because a pause of the machine during the choice would make
    all later blocks too short.
    """
    while True:
        seconds = bench.largest(min(bench.in_memory() for _ in range(3)))
        wanted = int(np.clip(round(BLOCK_SECONDS / seconds), 2, MOST_STEPS))
        enough = wanted <= 4 * bench.steps
        bench.steps = min(wanted, 8 * bench.steps)
        if enough:
            break
    bench.singles = 5
    seconds = bench.largest(min(bench.single() for _ in range(3)))
    bench.singles = int(np.clip(round(BLOCK_SECONDS / seconds), 1, MOST_CALLS))
    step_seconds = bench.largest(min(bench.whole()[0] for _ in range(2)))
    in_time, fewest = round(DATA_SECONDS / step_seconds), MANY * bench.steps_per_call
    bench.calls = int(np.clip(in_time // bench.steps_per_call, DATA_CALLS, MOST_CALLS))
    # With a slow input, as many steps as fill a block in memory would take minutes.
    bench.many = min(bench.steps, max(fewest, in_time)) if fewest <= bench.steps else 0


def measure(bench: Bench, seconds: float) -> dict[str, Any]:
    """Return the seconds of a step of each kind, in each round."""
    bench.whole()
    kinds, unmeasured = kinds_of(bench)
    if bench.recorder.tasks > 1 and "compute" in kinds:
        bench.own_pace()
    fit_blocks(bench)
    rounds, began = list[dict[str, float]](), time.perf_counter()
    while len(rounds) < FEWEST_ROUNDS or bench.largest(time.perf_counter() - began) < seconds:
        rounds.append(one_round(bench, kinds, backwards=len(rounds) % 2 == 1))
    return {
        "task": bench.recorder.task,
        "rounds": {name: [each[name] for each in rounds] for name in rounds[0]},
        "unmeasured": unmeasured,
        "steps_per_call": bench.steps_per_call,
        "batches": BATCHES,
        "block": {"steps": bench.steps, "calls": bench.calls, "singles": bench.singles},
    }


def one_round(
    bench: Bench, kinds: Mapping[str, Callable[[], float]], *, backwards: bool
) -> dict[str, float]:
    """Return the seconds of a step of each kind. All workers start each kind together."""
    bench.largest(0)
    whole, times = [bench.whole()], dict[str, float]()
    if bench.many:  # between two blocks of whole steps, so that a drift affects both kinds equally
        bench.largest(0)
        times["many"] = bench.long_call()
        bench.largest(0)
        whole.append(bench.whole())
    times["step"], times["recording"] = np.mean(whole, axis=0).tolist()
    if bench.recorder.tasks > 1 and "compute" in kinds:
        bench.largest(0)
        times["alone"] = bench.own_pace()
    for name in sorted(kinds, reverse=backwards):
        bench.largest(0)
        if name != "solo":
            times[name] = warm(kinds[name])
            continue
        for number in range(bench.recorder.tasks):
            if number == bench.number:
                times[name] = warm(kinds[name])
            bench.largest(0)
    return times


def serve(bench: Bench) -> None:
    """Time the complete step once for each line of the standard input."""
    bench.whole()
    seconds = bench.largest(min(bench.whole()[0] for _ in range(2))) * bench.steps_per_call
    bench.calls = int(np.clip(round(DATA_SECONDS / seconds), DATA_CALLS, MOST_CALLS))
    reply({"ready": True})
    for _ in sys.stdin:
        reply({"step_seconds": bench.whole()[0]})


def main(run_dir: pathlib.Path, steps_per_call: int, seconds: str) -> Bench:
    """Print the times of all kinds of a step, or answer requests to time the complete step.

    Returns what was timed: TensorFlow can take a minute to close its pipeline.
    """
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(run_dir, steps_per_call, scratch)
        if seconds == "serve":
            serve(bench)
        else:
            reply(measure(bench, float(seconds)))
            bench.largest(0)  # waits, as the first end may stop the others' coordination
    return bench


if __name__ == "__main__":
    timed_bench = main(pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
    os._exit(0)
