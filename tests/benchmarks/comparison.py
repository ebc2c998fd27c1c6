"""The wait for a table and for curves of many runs.

`python -m tests.benchmarks.comparison [--quick]` writes 1,000 finished runs and prints the seconds
to make their table, for the first time and for later times with kept measurements. Then it writes
100 runs of 100,000 steps and prints the seconds to make a figure of their curves.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks.growing import make_run
from tests.benchmarks.report import Limit
from tests.experiments.timed_runs import ONE, TWO, timed_run
from workbench.experiments import Group, curves_figure, group_runs, make_table
from workbench.runs import list_runs

RUNS, QUICK_RUNS = 1_000, 50
LONG_RUNS, QUICK_LONG_RUNS, STEPS = 100, 5, 100_000
ROUNDS = 5


def seconds_of(work: Callable[[], object]) -> float:
    """Return the time of the call."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def copies(folder: Path, originals: list[Path], count: int) -> None:
    """Copy runs in turn until there are `count` runs."""
    for number in range(len(originals), count):
        original = originals[number % len(originals)]
        copied = folder / f"{original.name}-{number:04d}"
        shutil.copytree(original, copied)
        card = json.loads((copied / "run.json").read_text()) | {"id": copied.name}
        (copied / "run.json").write_text(json.dumps(card))


def table_seconds(folder: Path) -> float:
    """Return the seconds to make the table of all runs of a folder."""
    return seconds_of(lambda: make_table(group_runs(list_runs(folder)), with_losses=False))


def main() -> int:
    """Measure and print; the exit status is 1 if a limit is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="few runs, to try the benchmark")
    quick = options.parse_args().quick
    count, long = (QUICK_RUNS, QUICK_LONG_RUNS) if quick else (RUNS, LONG_RUNS)
    verdicts = []
    with tempfile.TemporaryDirectory() as base:
        folder = Path(base) / "runs"
        originals = [timed_run(folder, config, 1000.0).dir for config in (ONE, TWO)]
        copies(folder, originals, count)
        first = table_seconds(folder)
        sys.stdout.write(f"table of {count:,} runs, for the first time: {first:.2f} s\n")
        seconds = [table_seconds(folder) for _ in range(ROUNDS)]
        verdicts.append(Limit(f"table of {count:,} runs", "s", at_most=1).judge(seconds))
        folder = Path(base) / "long"
        folder.mkdir()
        copies(folder, [make_run(folder, STEPS, "finished").dir], long)
        groups = [Group(run.id, (run,)) for run in list_runs(folder)]
        drawn = [seconds_of(lambda: curves_figure(groups)) for _ in range(ROUNDS)]
        name = f"curves of {long} runs x {STEPS:,} steps as a figure"
        verdicts.append(Limit(name, "s", at_most=2).judge(drawn))
    return int(not all(verdicts))


if __name__ == "__main__":
    sys.exit(main())
