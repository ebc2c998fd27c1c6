"""Times a run's step, and the same step without some of its parts, in the run's interpreter.

`step_times RUN_DIR STEPS_PER_CALL SECONDS` measures for about SECONDS seconds and prints one line
of JSON. With `serve` instead of SECONDS, it times the complete step once for each line it reads.

The run's own script gives strategy, model, data and steps. Each of several workers has such a
process, with its TF_CONFIG. Short blocks of all kinds take turns, so that other work on the machine
affects all kinds equally. The learning rate is 0, so that the weights, and the time they cost, do
not change. The run folder is only read. The observer writes to a temporary folder, which is
removed.
"""

import os
import pathlib
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..asker import reply
from .bench import BATCHES, DATA_CALLS, Bench

BLOCK_SECONDS = 0.15
DATA_SECONDS = 0.4
MOST_STEPS = 2000
MOST_CALLS = 500
FEWEST_ROUNDS = 9
MANY = 4
"""The fewest calls of the run that are done as one call, to time the step without the host."""


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
    if bench.tasks > 1 and "compute" in kinds:
        bench.own_pace()
    fit_blocks(bench)
    rounds, began = list[dict[str, float]](), time.perf_counter()
    while len(rounds) < FEWEST_ROUNDS or bench.largest(time.perf_counter() - began) < seconds:
        rounds.append(one_round(bench, kinds, backwards=len(rounds) % 2 == 1))
    return {
        "task": bench.task,
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
    if bench.tasks > 1 and "compute" in kinds:
        bench.largest(0)
        times["alone"] = bench.own_pace()
    for name in sorted(kinds, reverse=backwards):
        bench.largest(0)
        if name != "solo":
            times[name] = warm(kinds[name])
            continue
        for number in range(bench.tasks):
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
