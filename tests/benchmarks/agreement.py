"""Every strategy in both loops against OneDevice: passes, largest difference, and time.

`python -m tests.benchmarks.agreement [--quick] [--data NAME]` runs the cells of `workbench matrix`:
the MLP for 200 steps in single precision, the CNN on Fashion-MNIST for 100 steps in double. The
cells of a TPU can pass only on a machine with a TPU.
"""

from __future__ import annotations

import argparse
import sys
import tempfile

from tests.benchmarks.report import Limit, print_line
from workbench.cli.commands.matrix import report
from workbench.experiments import Matrix, matrix_of, start_matrix

QUICK_STEPS = 20
PASSING = Limit("cells that pass", "of 14", at_least=12, always=True)
SECONDS = Limit("the complete table of the MLP", "s", at_most=300)
LOSS = {
    "synthetic": Limit("largest difference of a step's loss, MLP", "", at_most=1e-6, always=True),
    "fashion_mnist": Limit(
        "largest difference of a step's loss, CNN, float64", "", at_most=1e-12, always=True
    ),
}
WEIGHTS = {
    "synthetic": Limit("largest difference of a final weight, MLP", "", at_most=1e-6, always=True),
    "fashion_mnist": Limit(
        "largest difference of a final weight, CNN, float64", "", at_most=1e-12, always=True
    ),
}


def differences(done: Matrix, name: str) -> list[float]:
    """Return the largest difference over the synchronous cells; an empty list if there are none."""
    found = [getattr(cell, name) for cell in done.cells]
    known = [value for value in found if value is not None]
    return [max(known)] if known else []


def main() -> int:
    """Measure and print; the exit status is 1 if a limit is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="few steps, to try the benchmark")
    options.add_argument("--data", choices=LOSS, help="only this data set")
    chosen = options.parse_args()
    reached = True
    for data in [chosen.data] if chosen.data else LOSS:
        with tempfile.TemporaryDirectory() as folder:
            begun = start_matrix(QUICK_STEPS if chosen.quick else None, data, folder)
            begun.wait()
            done = matrix_of(begun)
        print_line(report(done))
        passed = sum(cell.status == "pass" for cell in done.cells)
        judged = [
            PASSING.judge([passed]),
            LOSS[data].judge(differences(done, "max_loss_difference")),
            WEIGHTS[data].judge(differences(done, "max_weight_difference")),
        ]
        if data == "synthetic":
            judged.append(SECONDS.judge([done.seconds]))
        reached = reached and all(judged)
    return int(not reached)


if __name__ == "__main__":
    sys.exit(main())
