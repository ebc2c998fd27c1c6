"""The custom loop against the tutorial's: Mirrored on two virtual CPU replicas.

`python -m tests.benchmarks.training_speed [--quick] [--only mlp|cnn]` runs three loops in turn,
each in a separate process: the tutorial's, ours on the usual pipeline, and ours on stacked batches.
Ours records to disk. All train complete epochs of the MLP and parts of an epoch of the CNN, without
test passes and checkpoints. The tutorial's steps are also compared without the start of an epoch,
in which it makes an iterator and fills its shuffle buffer.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from tests.benchmarks.alternation import Segment, alternate
from tests.benchmarks.report import Comparison, conclude, print_line
from tests.benchmarks.sides import serve, side

MODULE = "tests.benchmarks.training_speed"
REACH = {("mlp", "usual"): 5.0, ("mlp", "stacked"): 9.0, ("cnn", "usual"): 1.3}
SEGMENT_STEPS = {"mlp": 3120, "cnn": 150}
TUTORIAL_STEPS = {"mlp": 450, "cnn": 100}
TUTORIAL_EPOCHS = 3
TUTORIALS = {"mlp": ("tutorial", "tutorial's steps"), "cnn": ("tutorial's steps",)}
OURS = ("usual", "stacked")
ROUNDS = {"mlp": 21, "cnn": 15}
QUICK_ROUNDS = 5


def compare(job: str, rounds: int) -> list[Comparison]:
    """Train the sides of a job in turn; return the ratios of our sides to the tutorial's."""
    with contextlib.ExitStack() as stack:
        sides = {
            name: stack.enter_context(side(MODULE, "--only", job, "--side", name))
            for name in (*TUTORIALS[job], *OURS)
        }
        done = alternate(sides, rounds)
    rates = {name: f"{np.median(rate):.0f}" for name, rate in done.rates.items()}
    print_line(f"{job}: median steps/s {rates}; {done.quiet} of {done.run} rounds quiet")
    judged, *others = TUTORIALS[job]
    return [
        Comparison(
            f"{job}, {ours} pipeline over the {tutorial}",
            done.rates[ours] / done.rates[tutorial],
            at_least=REACH.get((job, ours)) if tutorial == judged else None,
        )
        for tutorial in (judged, *others)
        for ours in OURS
    ]


def tutorial_side(job: str, name: str) -> Segment:
    """Return a segment of the tutorial's loop: complete epochs, or only steps."""
    import tensorflow as tf

    from tests.benchmarks.tutorial import Tutorial, cnn_job, mlp_job

    cpu = tf.config.list_physical_devices("CPU")[0]
    parts = [tf.config.LogicalDeviceConfiguration()] * 2
    tf.config.set_logical_device_configuration(cpu, parts)
    summed = tf.distribute.ReductionToOneDevice()
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"], cross_device_ops=summed)
    tutorial = Tutorial(strategy, mlp_job(per_replica_batch_size=32) if job == "mlp" else cnn_job())
    steps = TUTORIAL_STEPS[job]

    def epochs() -> float:
        began = time.perf_counter()
        for _ in range(TUTORIAL_EPOCHS):
            tutorial.train_epoch()
        return TUTORIAL_EPOCHS * tutorial.steps_per_epoch / (time.perf_counter() - began)

    return epochs if name == "tutorial" else lambda: steps / tutorial.train_steps(steps)


def workbench_side(job: str, pipeline: str, folder: Path) -> Segment:
    """Return a segment of our loop with records, without test passes and checkpoints."""
    from tests.benchmarks.engine import Engine, cnn, mlp

    engine = Engine({"mlp": mlp, "cnn": cnn}[job](pipeline=pipeline), folder)
    count = min(SEGMENT_STEPS[job], engine.script.STEPS_PER_EPOCH)
    epochs = SEGMENT_STEPS[job] // count

    def train() -> float:
        began = time.perf_counter()
        for _ in range(epochs):
            engine.observed(count)
        return epochs * count / (time.perf_counter() - began)

    return train


def main() -> int:
    """Measure and print; the exit status is 1 if a limit is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only", choices=["mlp", "cnn"], help="one of the two jobs")
    options.add_argument("--quick", action="store_true", help="few rounds, to try the benchmark")
    options.add_argument("--side", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.side and chosen.side not in OURS:
        serve(tutorial_side(chosen.only, chosen.side))
        return 0
    if chosen.side:
        pipeline = {"usual": "usual", "stacked": "indexed"}[chosen.side]
        with tempfile.TemporaryDirectory() as folder:
            serve(workbench_side(chosen.only, pipeline, Path(folder)))
        return 0
    comparisons = []
    for job in [chosen.only] if chosen.only else ["mlp", "cnn"]:
        comparisons += compare(job, QUICK_ROUNDS if chosen.quick else ROUNDS[job])
    return conclude(comparisons)


if __name__ == "__main__":
    sys.exit(main())
