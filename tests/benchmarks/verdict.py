"""Ten runs with one planted cause of slowness each, and the verdict's answer to each.

`python -m tests.benchmarks.verdict [--quick] [--only NAME ...]`. The slow link is between two
network namespaces, which needs root and `ip`; see `slow_link`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.benchmarks.report import Limit, print_line
from tests.benchmarks.slow_link import slow_link
from workbench.cli.commands.why import report
from workbench.config import RunConfig
from workbench.devices import detect
from workbench.runs import start_run
from workbench.verdict import SECONDS, judge

OWN = Path(__file__).with_name("planted.py")
SLOW_LINK = "slow link"
QUICK_SECONDS = 8.0
RIGHT = Limit("runs with the right cause, of ten", "", at_least=9)
SUM = Limit("largest overlap of a step's parts", "%", at_most=5)


@dataclass(frozen=True)
class Planted:
    """A run with one cause of slowness, and the verdict that it should get."""

    config: RunConfig
    cause: str | None
    """The part of a step that should be named; None: the model's own work."""
    changes: str | None = None
    """A field that the suggestion should change; None: nothing to suggest."""
    slowest: str | None = None
    """The worker that should be named."""


def _alone(**fields: Any) -> RunConfig:
    return RunConfig(strategy="one_device", start_now=True, **fields)


def _workers(data: str, model: str = "small_model", epochs: int = 6, **fields: Any) -> RunConfig:
    return RunConfig(
        strategy="multi_worker_mirrored",
        workers=2,
        per_replica_batch_size=32,
        data=own(data),
        model=own(model),
        epochs=epochs,
        start_now=True,
        **fields,
    )


def own(name: str) -> str:
    """Return the name of a planted function."""
    return f"{OWN}:{name}"


PLANTED = {
    "slow input": Planted(
        _alone(data=own("slow_sets"), model=own("small_model"), per_replica_batch_size=32,
               epochs=4),
        "input", "pipeline",
    ),
    "input of single examples": Planted(
        _alone(pipeline="numpy", per_replica_batch_size=256, synthetic_examples=20_000, epochs=4),
        "input", "pipeline",
    ),
    "tiny batch": Planted(
        _alone(pipeline="indexed", per_replica_batch_size=4, synthetic_examples=8_000, epochs=6),
        "fixed", "per_replica_batch_size",
    ),
    "chatty host": Planted(
        _alone(steps_per_call=1, per_replica_batch_size=64, epochs=4), "host", "steps_per_call"
    ),
    "eager steps": Planted(
        _alone(eager=True, per_replica_batch_size=64, steps_per_epoch=40, epochs=2),
        "fixed", "eager",
    ),
    "slow worker": Planted(
        _workers("quick_sets", step=own("step_slow_on_one_worker")),
        "waiting", None, "worker-1",
    ),
    "slow input of a worker": Planted(
        _workers("sets_slow_on_one_worker"), "waiting", None, "worker-1"
    ),
    SLOW_LINK: Planted(
        # Not forked, so that the interpreter starts each worker on its own host.
        _workers("quick_sets", epochs=2, start="cold"),
        "communication", "per_replica_batch_size",
    ),
    "too many replicas": Planted(
        RunConfig(replicas=8, data="fashion_mnist", model="cnn", per_replica_batch_size=16,
                  steps_per_epoch=20, epochs=2, start_now=True),
        "crowding", "replicas",
    ),
    "compute": Planted(
        _alone(data="fashion_mnist", model="cnn", per_replica_batch_size=64, steps_per_epoch=20,
               epochs=2),
        None,
    ),
}  # fmt: skip


def try_one(name: str, folder: Path, seconds: float) -> dict[str, Any]:
    """Train a planted run, ask why it is slow, and return whether the answer is right."""
    with slow_link(folder) if name == SLOW_LINK else nullcontext() as interpreter:
        return _try(name, folder, seconds, interpreter)


def _try(name: str, folder: Path, seconds: float, interpreter: Path | None) -> dict[str, Any]:
    planted = PLANTED[name]
    config = replace(planted.config, interpreter=str(interpreter) if interpreter else None)
    devices = detect(config.interpreter, import_tensorflow=False)
    run = start_run(config, folder, devices, name=name, rehearse=False)
    if run.wait() != "finished":
        raise RuntimeError(f"{name}: {run.failure}")
    verdict = judge(run, seconds)
    print_line(f"== {name}\n{report(verdict, run)}\n")
    found = verdict.breakdown
    changes = set(verdict.suggestion.changes) if verdict.suggestion else set()
    slowest = found.slowest.task if found.slowest else None
    right = (
        verdict.decided
        and verdict.cause == planted.cause
        and (planted.changes in changes if planted.changes else not changes)
        and (planted.slowest is None or slowest == planted.slowest)
    )
    return {
        "name": name,
        "right": right,
        "cause": verdict.cause if verdict.decided else "nothing yet",
        "changes": sorted(changes),
        "slowest": slowest,
        "overlap_percent": 100 * found.overlap_share,
    }


def main() -> int:
    """Measure and print; the exit status is 1 if a limit is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="short times, to try the benchmark")
    options.add_argument("--only", nargs="+", choices=PLANTED, help="only these")
    options.add_argument("--seconds", type=float, default=SECONDS)
    chosen = options.parse_args()
    seconds = QUICK_SECONDS if chosen.quick else chosen.seconds
    os.environ["WORKBENCH_STATE"] = state = tempfile.mkdtemp()
    with tempfile.TemporaryDirectory() as folder:
        try:
            return _judge(chosen.only or list(PLANTED), Path(folder), seconds)
        finally:
            shutil.rmtree(state, ignore_errors=True)


def _judge(names: list[str], folder: Path, seconds: float) -> int:
    results = [try_one(name, folder, seconds) for name in names]
    for each in results:
        planted = PLANTED[each["name"]]
        print_line(
            f"{each['name']}: planted {planted.cause}; the verdict says {each['cause']}, "
            f"slowest {each['slowest']}, change {', '.join(each['changes']) or 'nothing'}; "
            f"{each['overlap_percent']:.1f} % more than the step: "
            f"{'right' if each['right'] else 'WRONG'}"
        )
    right = RIGHT.judge([10 * sum(each["right"] for each in results) / len(results)])
    return int(not (SUM.judge([max(each["overlap_percent"] for each in results)]) and right))


if __name__ == "__main__":
    sys.exit(main())
