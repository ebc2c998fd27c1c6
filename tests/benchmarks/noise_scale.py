"""The noise scale of `workbench scale`, against the noise scale from single examples' gradients.

`python -m tests.benchmarks.noise_scale [--quick]` trains the MLP, the CNN and a dense network on
Fashion-MNIST with Mirrored on two replicas, for an epoch or a part of one. It measures at the last
checkpoint and computes the true value by brute force: the variance over thousands of single
examples, and the mean over all examples. It prints the difference and the time of the measurement.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import replace

from tests.benchmarks.report import Limit, print_line
from tests.benchmarks.resuming import trained
from workbench.config import RunConfig
from workbench.devices import detect
from workbench.experiments import should_scale
from workbench.runs import Run

BASE = RunConfig(epochs=1, global_batch_size=128, replicas=2, start_now=True)
IMAGES = replace(BASE, data="fashion_mnist", steps_per_epoch=200)
CONFIGS = {
    "MLP, synthetic": BASE,
    "dense, Fashion-MNIST": replace(IMAGES, model="dense"),
    "CNN, Fashion-MNIST": replace(IMAGES, model="cnn"),
}
SAMPLE, QUICK_SAMPLE = 4_096, 512
FACTOR = Limit("largest ratio between estimate and true value, all models", "times", at_most=1.25)
INSIDE = Limit("models with the truth in the interval", f"of {len(CONFIGS)}", at_least=len(CONFIGS))
SECONDS = Limit("measurement of the slowest model", "s", at_most=60)


def truth_of(run: Run, sample: int) -> float:
    """Return the noise scale by brute force, in examples."""
    command = [sys.executable, "-m", "tests.engine.true_noise", str(sample), str(run.dir)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout.splitlines()[-1])["examples"])


def main() -> int:
    """Measure and print; the exit status is 1 if a limit is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="small samples, to try the benchmark")
    sample = QUICK_SAMPLE if options.parse_args().quick else SAMPLE
    devices, factors, inside, seconds = detect(), [], 0, []
    for name, config in CONFIGS.items():
        with tempfile.TemporaryDirectory() as folder:
            run = trained(config, devices, folder)
            began = time.perf_counter()
            found = should_scale(run).noise_scale
            seconds.append(time.perf_counter() - began)
            truth = truth_of(run, sample)
        if found.examples is None or found.low is None or found.high is None:
            raise RuntimeError(f"{name}: the noise scale must be known; {found.reason}")
        factors.append(max(found.examples / truth, truth / found.examples))
        inside += found.low <= truth <= found.high
        print_line(
            f"{name}: {found.examples:,.0f} examples, 95 % [{found.low:,.0f}, {found.high:,.0f}]; "
            f"true {truth:,.0f}: ratio {found.examples / truth:.3f}, {seconds[-1]:.1f} s"
        )
    judged = [FACTOR.judge([max(factors)]), INSIDE.judge([inside]), SECONDS.judge([max(seconds)])]
    return int(not all(judged))


if __name__ == "__main__":
    sys.exit(main())
