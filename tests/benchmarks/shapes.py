"""Ten shapes of custom models on two replicas, in one process and in two, in both loops.

`python -m tests.benchmarks.shapes [--quick] [--shape NAME]` runs `workbench matrix` for each:
OneDevice, Mirrored and MultiWorkerMirrored, custom and fit, in double precision. Each run of a
model without randomness and without parts of a single replica has a certificate.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.report import Limit, print_line
from tests.engine.shapes import DATA, RANDOM
from workbench.cli.commands.matrix import report
from workbench.experiments import Matrix, matrix_of, start_matrix

FILE = Path(__file__).parents[1] / "engine" / "own_shapes.py"
STEPS, QUICK_STEPS = 100, 10
STRATEGIES = ("one_device", "mirrored", "multi_worker_mirrored")
CELLS = 2 * len(STRATEGIES)
DETERMINISTIC = [shape for shape in DATA if shape not in RANDOM]
CERTIFIED = Limit("deterministic runs with a certificate", "%", at_least=100, always=True)
LOSS = Limit("largest difference of a step's loss, deterministic", "", at_most=1e-12, always=True)


def run(shape: str, folder: str, steps: int) -> Matrix:
    """Run the cells of a shape."""
    data, model = (f"{FILE}:{name}" for name in (DATA[shape], shape))
    begun = start_matrix(steps, data, folder, model=model, strategies=STRATEGIES)
    begun.wait()
    return matrix_of(begun)


def main() -> int:
    """Measure and print; the exit status is 1 if a limit is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="few steps, to try the benchmark")
    options.add_argument("--shape", choices=DATA, help="only this shape")
    chosen = options.parse_args()
    shapes = [chosen.shape] if chosen.shape else list(DATA)
    trained, certified, differences = 0, [], []
    with tempfile.TemporaryDirectory() as folder:
        for shape in shapes:
            done = run(shape, folder, QUICK_STEPS if chosen.quick else STEPS)
            print_line(f"{shape}\n{report(done)}")
            trained += sum(cell.max_loss_difference is not None for cell in done.cells)
            if shape in DETERMINISTIC:
                certified += [
                    100.0 * (Path(cell.run or "", "certificate.json").is_file())
                    for cell in done.cells
                ]
                differences += [
                    cell.max_loss_difference
                    for cell in done.cells
                    if cell.max_loss_difference is not None
                ]
    print_line(f"{len(shapes)} shapes, {trained} of {CELLS * len(shapes)} runs trained")
    judged = [trained == CELLS * len(shapes)]
    if certified:
        judged += [CERTIFIED.judge([sum(certified) / len(certified)])]
        judged += [LOSS.judge([max(differences)])]
    return int(not all(judged))


if __name__ == "__main__":
    sys.exit(main())
