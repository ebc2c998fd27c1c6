"""The gain from processes forked from a process with TensorFlow, against cold starts.

`python -m tests.benchmarks.forking [--quick] [--only starts restart memory programs matrix many]`.
It measures in turn: the time from the start of a cluster to its first step; the time from the death
of a worker of ParameterServer to the first step of the restarted worker; the private memory of
eight workers; the other programs of a run; the matrix, with the losses and weights of each cell
compared with its cold twin; a thousand runs, four simultaneously. TensorFlow is loaded before the
measurements, as after the first edit in a form; the matrix loads it itself.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil

from tests.benchmarks.first_step import calls_of, wait_until
from tests.benchmarks.report import Comparison, Limit, conclude, print_line
from tests.forking.processes import server_process
from workbench import catalog
from workbench.config import RunConfig
from workbench.devices import Devices, detect
from workbench.experiments import matrix_of, start_matrix
from workbench.experiments.agreement import certify
from workbench.forking.program.server import KEEPER
from workbench.plan import make_plan
from workbench.runs import Run, list_runs, start_run
from workbench.runs.processes.environment import Launch
from workbench.runs.processes.forks import BEGUN, fork_server
from workbench.runs.programs import inspection
from workbench.runs.programs.detection import detect_devices
from workbench.runs.records.reader import step_files
from workbench.runs.records.step_files import attempts_of

FORKED, COLD = WAYS = ("auto", "cold")
DETECTIONS: dict[str, Callable[[], Devices]] = {FORKED: detect_devices, COLD: detect}
SERVED = RunConfig(strategy="parameter_server", workers=2, epochs=10_000)
CLUSTERS = {
    "MultiWorkerMirrored x 2": RunConfig(
        strategy="multi_worker_mirrored", workers=2, epochs=10_000
    ),
    "ParameterServer, four tasks": SERVED,
}
EIGHT = RunConfig(strategy="multi_worker_mirrored", workers=8, epochs=10_000)
SHORT = RunConfig(strategy="one_device", synthetic_examples=640, global_batch_size=32, epochs=1)
SOONER, MATRIX_SOONER, PROGRAM_SOONER = 5.0, 3.0, 2.0
RESTART_SHARE = 3.0 / 20.0
MOST_PRIVATE_MIB = 1_200.0
MOST_DIFFERENCE = 1e-6
MANY, FEW, AT_A_TIME = 1_000, 8, 4
MIB = 2**20


class Bench:
    """A starter of forked and cold runs; for forked runs TensorFlow is loaded."""

    def __init__(self, root: Path) -> None:
        self.root, self.devices = root, detect(import_tensorflow=False)
        self.server = fork_server(Launch(sys.executable, Path.cwd()))

    @contextmanager
    def loaded(self) -> Iterator[None]:
        """Keep TensorFlow loaded during the block."""
        self.server.start()
        wait_until(lambda: self.server.state == "ready")
        try:
            yield
        finally:
            self.server.release()

    def start(self, config: RunConfig, way: str) -> Run:
        """Start a run with forked or cold processes."""
        self.server.keep()
        return start_run(replace(config, start=way, start_now=True), self.root, self.devices)


def end(run: Run) -> None:
    """Stop a run and wait until it has."""
    run.stop()
    run.wait()


def is_over(process: psutil.Process) -> bool:
    """Return whether a process has ended, also if nobody has taken its exit status."""
    try:
        return not process.is_running() or bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def command_line_of(process: psutil.Process) -> list[str]:
    """Return the command line of a process; an empty list if it has ended."""
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []


def starts(bench: Bench, rounds: int) -> bool:
    """Measure clusters, from the start to the first step."""
    found = []
    for name, config in CLUSTERS.items():
        ratios = []
        for _ in range(rounds):
            forked, cold = (first_step_seconds(bench, config, way) for way in WAYS)
            print_line(f"{name}: {forked:.2f} s forked, {cold:.2f} s cold")
            ratios.append(cold / forked)
        ratio = f"{name}: start to first step, cold over forked"
        found.append(Comparison(ratio, np.array(ratios), at_least=SOONER))
    return conclude(found) == 0


def first_step_seconds(bench: Bench, config: RunConfig, way: str) -> float:
    """Return the seconds from a run's start to the end of its first call."""
    began = time.time()
    run = bench.start(config, way)
    wait_until(lambda: len(calls_of(run)))
    _, _, start, seconds = calls_of(run)[0]
    end(run)
    must_be(run, way)
    return float(start + seconds - began)


def restart(bench: Bench, rounds: int) -> bool:
    """Kill a worker of ParameterServer; measure the time to the restarted worker's first step."""
    ratios = []
    for _ in range(rounds):
        forked, cold = (restart_seconds(bench, way) for way in WAYS)
        print_line(f"a killed worker: {forked:.2f} s until the next step, {cold:.2f} s cold")
        ratios.append(forked / cold)
    return Limit("a restarted worker, forked over cold", "", at_most=RESTART_SHARE).judge(ratios)


def restart_seconds(bench: Bench, way: str) -> float:
    """Return the seconds from the death of a worker to the first call of the next."""
    run = bench.start(SERVED, way)
    wait_until(lambda: run.progress.step > 0)
    task = run.dir / "worker-1"
    (process,) = (each for each in psutil.process_iter() if writes_log_of(each, task))
    os.kill(process.pid, signal.SIGKILL)
    wait_until(lambda: is_over(process))
    killed = time.time()
    wait_until(lambda: len(calls_of_task(task)) and calls_of_task(task)[-1][2] > killed)
    start, took = calls_of_task(task)[-1][2:]
    end(run)
    must_be(run, way)
    return float(start + took) - killed


def writes_log_of(process: psutil.Process, task: Path) -> bool:
    """Return whether a process writes the log of a task."""
    try:
        return any(each.path == str(task / "log.txt") for each in process.open_files())
    except psutil.Error:
        return False


def calls_of_task(task: Path) -> np.ndarray:
    """Return the newest calls of a worker, from the records of its chief."""
    attempts = attempts_of(step_files(task, 1).log())
    return attempts[-1] if attempts else np.empty((0, 4))


def must_be(run: Run, way: str) -> None:
    """Raise RuntimeError if the processes of a run were not started in the given way."""
    (begun,) = (set(event["how"].values()) for event in run.events() if event["event"] == BEGUN)
    if (begun == {"forked"}) != (way == FORKED):
        raise RuntimeError(f"A run must start as {way}; {run.dir} was {begun}.")


def memory(bench: Bench, _: int) -> bool:
    """Measure the memory of eight workers."""
    print_line(f"eight workers of MultiWorkerMirrored, cold: {private_mib(bench, COLD):,.0f} MiB")
    name = "private memory of eight forked workers and their keepers"
    return Limit(name, "MiB", at_most=MOST_PRIVATE_MIB).judge([private_mib(bench, FORKED)])


def private_mib(bench: Bench, way: str) -> float:
    """Return the total private memory of eight workers during training."""
    run = bench.start(EIGHT, way)
    wait_until(lambda: run.progress.step > 0)
    script = str(run.dir / "train.py")
    tasks = [each for each in psutil.process_iter() if script in command_line_of(each)]
    if len(tasks) != EIGHT.workers:
        raise RuntimeError(f"{EIGHT.workers} workers must have a process each; found {len(tasks)}.")
    keepers = [each for each in psutil.process_iter() if command_line_of(each)[:1] == [KEEPER]]
    held = sum(each.memory_full_info().uss for each in (*tasks, *keepers))
    end(run)
    must_be(run, way)
    return float(held) / MIB


def programs(bench: Bench, rounds: int) -> bool:
    """Measure the programs other than training: detection, inspection, evaluation, X-ray."""
    runs = {way: bench.start(SHORT, way) for way in WAYS}
    for run in runs.values():
        run.wait()

    def inspect(way: str, at: int) -> object:
        inspection._inspect.cache_clear()
        config = replace(SHORT, start=way, seed=at)
        return inspection.inspect_model(make_plan(config, bench.devices))

    actions: dict[str, Callable[[str, int], object]] = {
        "a detection of the devices": lambda way, _: DETECTIONS[way](),
        "an inspection of a model": inspect,
        "an evaluation": lambda way, _: runs[way].evaluate(),
        "an X-ray": lambda way, _: runs[way].xray(3),
    }
    found = []
    for name, action in actions.items():
        ratios = []
        for at in range(rounds):
            seconds = []
            for way in WAYS:
                bench.server.keep()
                began = time.monotonic()
                action(way, at)
                seconds.append(time.monotonic() - began)
            print_line(f"{name}: {seconds[0]:.2f} s forked, {seconds[1]:.2f} s cold")
            ratios.append(seconds[1] / seconds[0])
        found.append(
            Comparison(f"{name}, cold over forked", np.array(ratios), at_least=PROGRAM_SOONER)
        )
    return conclude(found) == 0


def matrix(bench: Bench, rounds: int) -> bool:
    """Compare the forked matrix with the cold one: its time, and each cell's losses and weights."""
    few = {"steps": 20, "strategies": ("one_device", "mirrored")} if rounds == 1 else {}
    done = {}
    for way in WAYS:
        begun = start_matrix(runs_dir=bench.root, devices=bench.devices, start=way, **few)
        begun.wait()
        done[way] = matrix_of(begun)
    for way in WAYS:
        print_line(f"matrix, {way}: {done[way].seconds:.0f} s, {len(done[way].cells)} cells")
    alone, every, unlike = [], [], 0
    for forked, cold in zip(done[FORKED].cells, done[COLD].cells, strict=True):
        unlike += forked.status != cold.status
        # Asynchronous workers take different steps each time.
        if forked.status == "pass" and catalog.STRATEGIES[forked.strategy].synchronous:
            run = Run(Path(str(forked.run)))
            every.append(apart_by(run, Run(Path(str(cold.run)))))
            alone += every[-1:] if len(run.tasks) == 1 else []
    ratio = done[COLD].seconds / done[FORKED].seconds
    name = "largest difference of loss or weight between forked and cold"
    return all(
        [
            Limit("the matrix, cold over forked", "times", at_least=MATRIX_SOONER).judge([ratio]),
            Limit("cells with another status", "", at_most=0, always=True).judge([unlike]),
            Limit(f"{name}, one process", "", at_most=0.0, always=True).judge(
                [max(alone, default=np.inf)]
            ),
            Limit(f"{name}, every cell", "", at_most=MOST_DIFFERENCE, always=True).judge(
                [max(every, default=np.inf)]
            ),
        ]
    )


def apart_by(forked: Run, cold: Run) -> float:
    """Return the difference of a run from its cold twin; infinity if it is unknown."""
    losses = [run.steps()["loss"].to_numpy() for run in (forked, cold)]
    weights = certify(cold, [forked])[str(forked.dir)].agreement.max_weight_difference
    if len(losses[0]) != len(losses[1]) or not np.isfinite(losses).all() or weights is None:
        return float("inf")
    return float(max(np.abs(losses[0] - losses[1]).max(), weights))


def many(bench: Bench, rounds: int) -> bool:
    """Run twenty steps many times, four runs simultaneously; check that each finishes cleanly."""
    count = FEW if rounds == 1 else MANY
    server = server_process(bench.server)

    def held() -> dict[str, int]:
        left = [each for each in psutil.process_iter() if is_of_a_run(each, bench.root)]
        files = list(bench.server.folder.iterdir())
        return {"descriptors": server.num_fds(), "files": len(files), "processes": len(left)}

    before, began = held(), time.monotonic()
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        ends = list(pool.map(lambda _: bench.start(SHORT, FORKED).wait(), range(count)))
    print_line(f"{count:,} runs in {time.monotonic() - began:.0f} s")
    wait_until(lambda: not server.children())
    forked = sum("'forked'" in str(run.events()) for run in list_runs(bench.root))
    after = held()
    return all(
        [
            Limit("runs that finished", "", at_least=count, always=True).judge(
                [ends.count("finished")]
            ),
            Limit("forked runs", "", at_least=count).judge([forked]),
            *(
                Limit(f"remaining {name}", "", at_most=0).judge([after[name] - before[name]])
                for name in before
            ),
        ]
    )


def is_of_a_run(process: psutil.Process, root: Path) -> bool:
    """Return whether a process runs something in a folder of runs, or keeps such a process."""
    return any(str(root) in each or each == KEEPER for each in command_line_of(process))


PARTS: dict[str, Callable[[Bench, int], bool]] = {
    "starts": starts, "restart": restart, "memory": memory, "programs": programs,
    "matrix": matrix, "many": many,
}  # fmt: skip


def main() -> int:
    """Measure and print; the exit status is 1 if a limit is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="one round, to try the benchmark")
    options.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    chosen = options.parse_args()
    reached = []
    for name in chosen.only:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["WORKBENCH_STATE"] = f"{folder}/state"
            bench = Bench(Path(folder) / "runs")
            with nullcontext() if name == "matrix" else bench.loaded():
                reached.append(PARTS[name](bench, 1 if chosen.quick else 5))
    return int(not all(reached))


if __name__ == "__main__":
    sys.exit(main())
