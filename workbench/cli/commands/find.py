"""`workbench find`: the batch size and the learning rate by trials, with progress."""

from __future__ import annotations

import json
import math
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.catalog import COMPILED, STRATEGIES
from workbench.cli.before import ahead, ahead_of_a_run, check_tensorflow, devices_for
from workbench.cli.flags import add_config_flags, config_from, sentence
from workbench.cli.terminal import ProgressLine, stop_by_interrupt
from workbench.cli.watching import columns
from workbench.experiments.searching.batch_finder import BUDGET_SECONDS, find_batch_size
from workbench.experiments.searching.rate_test import HIGHEST, LOWEST, STEPS, find_learning_rate
from workbench.experiments.searching.results import (
    SIZE_HEAD,
    batch_progress,
    batch_sentences,
    beside_sentence,
    rate_progress,
    rate_sentences,
    size_cells,
)
from workbench.plan import PlanError

if TYPE_CHECKING:
    from workbench.config import RunConfig
    from workbench.devices import Devices
    from workbench.experiments.searching.results import (
        BatchProgress,
        FoundBatch,
        RateProgress,
        RateTest,
    )

BAR = 30
ROWS = 30
RATES = ("learning rate", "loss", "smoothed", "")


def add_flags(parser: ArgumentParser) -> None:
    """Add the flags."""
    parser.set_defaults(command=None)
    what = parser.add_subparsers(metavar="WHAT", required=True)
    text = "find the largest per-replica batch that fits and the one with the best throughput"
    how = "Each trial trains a few steps in its own process. Ctrl-C stops and prints the results"
    how += " so far."
    sizes = what.add_parser("batch-size", help=text, description=f"{sentence(text)} {how}")
    text = "Memory limit, per process on a CPU, per replica on GPUs. Default: available memory."
    sizes.add_argument("--memory-limit", type=int, metavar="MIB", help=text)
    text = f"Seconds that the search may take. Default: {BUDGET_SECONDS:g}."
    sizes.add_argument("--budget", type=float, default=BUDGET_SECONDS, metavar="S", help=text)
    sizes.set_defaults(command=batch_size)
    text = "raise the learning rate until the loss diverges, and suggest a rate (Smith 2017)"
    how = "It trains from the start in a separate process. Ctrl-C stops and prints the results"
    how += " so far."
    rates = what.add_parser("learning-rate", help=text, description=f"{sentence(text)} {how}")
    for flag, rate in ("--lowest", LOWEST), ("--highest", HIGHEST):
        text = f"The {flag[2:]} learning rate. Default: {rate:g}."
        rates.add_argument(flag, type=float, default=rate, metavar="X", help=text)
    text = f"Steps from the lowest to the highest. Default: {STEPS}."
    rates.add_argument("--steps", type=int, default=STEPS, metavar="N", help=text)
    rates.set_defaults(command=learning_rate)
    for each in (sizes, rates):
        add_config_flags(each)
        each.add_argument("--json", action="store_true", help="End with one line of JSON.")


def batch_size(arguments: Namespace) -> int:
    """Search the batch size; return 0, also if the search was stopped."""
    config = config_from(arguments)
    line = ProgressLine()

    def show_progress(progress: BatchProgress) -> None:
        line.write(batch_progress(progress), progress.eta_seconds)

    with ahead(config):
        devices = _devices(config)
        with stop_by_interrupt() as stop:
            limit_mib, budget = arguments.memory_limit, arguments.budget
            found = find_batch_size(config, limit_mib, budget, devices, show_progress, stop.is_set)
    line.end()
    print(json.dumps(found.to_json()) if arguments.json else batch_report(found))
    return 0


def learning_rate(arguments: Namespace) -> int:
    """Test learning rates; return 0, also if the curve gives no rate or the test was stopped."""
    config = config_from(arguments)
    line = ProgressLine()

    def show_progress(progress: RateProgress) -> None:
        line.write(rate_progress(progress), progress.eta_seconds)

    with ahead_of_a_run(config):
        devices = _devices(config)
        with stop_by_interrupt() as stop:
            test = find_learning_rate(
                config,
                arguments.lowest,
                arguments.highest,
                arguments.steps,
                devices,
                show_progress,
                stop.is_set,
            )
    line.end()
    print(json.dumps(test.to_json()) if arguments.json else rate_report(test))
    return 0


def batch_report(found: FoundBatch) -> str:
    """Return the table with its curve, and the answers as the flags to use next."""
    most = max((trial.examples_per_second or 0 for trial in found.trials), default=0)
    rows = [
        [*size_cells(trial), _bar((trial.examples_per_second or 0) / most) if trial.fits else ""]
        for trial in found.trials
    ]
    lines = [*columns((*SIZE_HEAD, ""), rows), "", *batch_sentences(found)]
    if found.beside:
        lines.append(beside_sentence(found.beside))
    largest, best = found.largest_per_replica_batch_size, found.best_per_replica_batch_size
    if largest is not None:
        lines.append(f"The largest that fits:  --per-replica-batch-size {largest}")
    if best is not None:
        lines.append(f"The best throughput:    --per-replica-batch-size {best}")
    return "\n".join(lines)


def rate_report(test: RateTest) -> str:
    """Return the table with its curve, and the suggestion as the flag to use next."""
    every = max(1, math.ceil(len(test.rates) / ROWS))
    top = _top(test.smoothed)
    rows = [
        (
            f"{test.rates[at]:.1e}",
            "not finite" if test.losses[at] is None else f"{test.losses[at]:.4g}",
            f"{test.smoothed[at]:.4g}" if at < len(test.smoothed) else "",
            _bar(test.smoothed[at] / top) if at < len(test.smoothed) and top > 0 else "",
        )
        for at in range(0, len(test.rates), every)
    ]
    lines = [*columns(RATES, rows), "", *rate_sentences(test)]
    if test.learning_rate is not None and test.optimizer != COMPILED:
        lines.append(f"Use it:  --learning-rate {test.learning_rate:g}")
    return "\n".join(lines)


def _top(losses: Sequence[float]) -> float:
    """Return the loss that the longest bar shows. Bars of a diverged loss may be cut off."""
    return 1.5 * max(losses[: max(1, len(losses) // 2)], default=0.0)


def _bar(share: float) -> str:
    return "#" * max(0, min(BAR, round(BAR * share)))


def _devices(config: RunConfig) -> Devices:
    devices = devices_for(config)
    if problems := check_tensorflow(devices):
        raise PlanError(problems)
    strategy = STRATEGIES.get(config.strategy)
    if strategy is not None and strategy.synchronous and strategy.warning:
        print(f"Note: {strategy.warning}", file=sys.stderr, flush=True)
    return devices
