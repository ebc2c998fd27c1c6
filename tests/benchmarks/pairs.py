"""Differences between real runs: steps with a tenth more work, and steps with the same work.

`python -m tests.benchmarks.pairs [--quick]` trains three groups in turn, one run of each per round.
The work is nearly all of a step, so that a tenth more work takes nearly a tenth longer. The
interval of the speed-up should contain 40 / 44 and exclude 1; for the same work it should contain
1.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.report import print_line
from workbench.config import RunConfig
from workbench.devices import Devices, detect
from workbench.experiments import Group, make_table
from workbench.interval import Interval
from workbench.runs import Run, start_run
from workbench.runs.processes.forks import loaded_ahead

OWN = Path(__file__).with_name("planted.py")
SAME, AGAIN, LONGER = "forty rounds", "forty rounds again", "forty-four rounds"
STEPS = {
    SAME: "step_of_forty_rounds",
    AGAIN: "step_of_forty_rounds",
    LONGER: "step_of_forty_four_rounds",
}
ROUNDS, QUICK_ROUNDS = 8, 3
TRUE_SPEED_UP = 40 / 44
REACH = 0.02
"""The allowed distance of the true speed-up from the interval: a step is not only work."""


def train(step: str, folder: Path, devices: Devices) -> Run:
    """Train a run to its end and return it."""
    config = RunConfig(
        strategy="one_device", data=f"{OWN}:quick_sets", model=f"{OWN}:small_model",
        step=f"{OWN}:{step}", per_replica_batch_size=32, epochs=5, start_now=True,
    )  # fmt: skip
    run = start_run(config, folder, devices, rehearse=False)
    if run.wait() != "finished":
        raise RuntimeError(f"{step}: {run.failure}")
    return run


def is_right(name: str, interval: Interval, *, differs: bool, true: float) -> bool:
    """Print whether the table says that a pair differs; return whether this is right."""
    right = (
        interval.differs_from(1.0) is differs
        and interval.low - REACH <= true <= interval.high + REACH
    )
    word = "differ significantly" if interval.differs_from(1.0) else "do not differ significantly"
    print_line(
        f"{name}: speed-up [{interval.low:.3f}, {interval.high:.3f}], the true one is {true:.3f}; "
        f"the table: they {word}: {'right' if right else 'WRONG'}"
    )
    return right


def main() -> int:
    """Train, compare and print; the exit status is 1 if a statement on a pair is wrong."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="few rounds, to try the benchmark")
    rounds = QUICK_ROUNDS if options.parse_args().quick else ROUNDS
    runs: dict[str, list[Run]] = {name: [] for name in STEPS}
    with tempfile.TemporaryDirectory() as base:
        os.environ["WORKBENCH_STATE"] = f"{base}/state"
        devices = detect(import_tensorflow=False)
        with loaded_ahead(None):
            for number in range(rounds):
                names = list(STEPS)
                for name in names if number % 2 else reversed(names):  # no group is always first
                    runs[name].append(train(STEPS[name], Path(base) / "runs", devices))
        groups = [Group(name, tuple(runs[name]), rounds=tuple(range(rounds))) for name in STEPS]
        _, again, longer = make_table(groups, baseline=0, with_losses=False).rows
    assert again.speed_up_interval is not None
    assert longer.speed_up_interval is not None
    same = is_right("the same work", again.speed_up_interval, differs=False, true=1.0)
    other = is_right(
        "a tenth more work", longer.speed_up_interval, differs=True, true=TRUE_SPEED_UP
    )
    return int(not (same and other))


if __name__ == "__main__":
    sys.exit(main())
