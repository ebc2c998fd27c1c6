"""The tournament of strategies on Fashion-MNIST, as a user starts it.

`python -m tests.benchmarks.tournament [--quick]` types `workbench compare --data fashion_mnist`,
which trains every strategy that this machine can run, several times each. It recommends one, or
says what would decide between them. The time is that of the complete command, with its start and
the detection of the devices.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.report import Limit, print_line
from tests.cli.terminal import Terminal, last_json
from workbench.devices import detect
from workbench.experiments.queueing.tournament import contenders

ASKED = ("compare", "--data", "fashion_mnist", "--json")
QUICK = ("--repeats", "1", "--epochs", "1", "--steps-per-epoch", "40")
SECONDS = Limit(
    "the tournament with Fashion-MNIST, from the command to its answer", "s", at_most=300
)


def tournament(folder: Path, flags: tuple[str, ...]) -> tuple[dict[str, Any], float]:
    """Return the answer of the command, and the seconds until it came."""
    began = time.perf_counter()
    done = Terminal(folder).type(*ASKED, *flags)
    seconds = time.perf_counter() - began
    if done.returncode:
        raise RuntimeError(f"The tournament must end without a failure: {done.stderr}")
    return last_json(done), seconds


def is_answered(advice: dict[str, Any]) -> bool:
    """Return whether a strategy is recommended, or the sentence says that noise prevents it."""
    return advice["group"] is not None or advice["sentence"].startswith("Undecided: ")


def main() -> int:
    """Measure and print; the exit status is 1 if a limit is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="few steps, to try the benchmark")
    flags = QUICK if options.parse_args().quick else ()
    count = len(contenders(detect(import_tensorflow=False)))
    with tempfile.TemporaryDirectory() as folder:
        answer, seconds = tournament(Path(folder), flags)
    for row in answer["rows"]:
        speed = row["examples_per_second"] or 0.0
        notes = "".join(f"; {note}" for note in row["notes"])
        print_line(f"{row['label']}: {len(row['runs'])} runs, {speed:,.0f} examples/s{notes}")
    print_line(answer["advice"]["sentence"])
    able = sum(row["examples_per_second"] is not None for row in answer["rows"])
    taken_part = Limit(
        "strategies with a measured speed", f"of {count}", at_least=count, always=True
    )
    answered = Limit("a recommendation, or undecided", "", at_least=1, always=True)
    reached = [
        taken_part.judge([able]),
        answered.judge([is_answered(answer["advice"])]),
        SECONDS.judge([seconds]),
    ]
    return int(not all(reached))


if __name__ == "__main__":
    sys.exit(main())
