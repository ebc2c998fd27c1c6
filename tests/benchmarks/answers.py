"""The time of answers about runs: a state, a list, the tail of a log full of noise.

`python -m tests.benchmarks.answers [--quick]` asks an active run of 100,000 steps for its state
(`Run.wait(0)`) and lists 1,000 runs as `workbench runs list` does, without the time of imports. It
reads the tails of logs that end with 15,000 control characters or unterminated escape codes, each
in turn with a log of plain lines of the same size.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks.growing import make_run
from tests.benchmarks.many import make_runs
from tests.benchmarks.report import Limit, print_line
from workbench.cli.watching import table
from workbench.runs import list_runs
from workbench.runs.folder import locks
from workbench.runs.folder.logs import log_tail
from workbench.runs.folder.state import run_lock

STEPS = 100_000
LINES = 50
NOISE = {
    "carriage returns": b"\r",
    "unterminated titles": b"\x1b]",
    "unterminated colours": b"\x1b[0;",
    "escape characters": b"\x1b ",
    "zero bytes": b"\x00",
}
PIECES = 15_000
ROUNDS, QUICK_ROUNDS = 51, 3
RUNS = 1_000
LIST = Limit("1,000 runs listed, read from their folders", "s", at_most=1)
WAIT = Limit("the state of a run of 100,000 steps, wait(0)", "s", at_most=0.01)


def seconds(ask: Callable[[], object]) -> float:
    """Return the time of an answer."""
    began = time.perf_counter()
    ask()
    return time.perf_counter() - began


def judge_state(folder: Path, rounds: int) -> bool:
    """Ask an active run for its state; return whether the answer comes within the limit."""
    run = make_run(folder, STEPS)
    held = locks.take(run_lock(run.dir))
    if held is None or run.status != "running":
        raise RuntimeError(f"The run must be running during the test; it is {run.status}.")
    return WAIT.judge([seconds(lambda: run.wait(0)) for _ in range(rounds)])


def judge_list(folder: Path, rounds: int) -> bool:
    """List runs; return whether this takes less than the limit."""
    make_runs(folder, RUNS)
    return LIST.judge([seconds(lambda: table(list_runs(folder))) for _ in range(rounds)])


def judge_noise(folder: Path, name: str, piece: bytes, rounds: int) -> bool:
    """Read noise and plain lines in turn; return whether noise takes little longer."""
    noisy, plain = folder / "noisy.txt", folder / "plain.txt"
    noisy.write_bytes(b"before\n" + piece * PIECES)
    size = noisy.stat().st_size
    plain.write_bytes((b"step=100 loss=0.25\n" * (1 + size // 19))[:size])
    ratios = []
    for _ in range(rounds):
        usual = seconds(lambda: log_tail(plain, LINES))
        ratios.append(seconds(lambda: log_tail(noisy, LINES)) / usual)
    wanted = Limit(f"tail of 15,000 {name}, compared with plain lines", "times", at_most=3)
    return wanted.judge(ratios)


def main() -> int:
    """Measure and print; the exit status is 1 if an answer comes too late."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="few rounds, to try the benchmark")
    rounds = QUICK_ROUNDS if options.parse_args().quick else ROUNDS
    with tempfile.TemporaryDirectory() as base:
        folder = Path(base)
        verdicts = [judge_state(folder, rounds), judge_list(folder / "many", rounds)]
        verdicts += [judge_noise(folder, *noise, rounds) for noise in NOISE.items()]
    print_line("medians [minimum, maximum]")
    return int(not all(verdicts))


if __name__ == "__main__":
    sys.exit(main())
