"""The loss when the link between two real workers on two hosts is blocked for 30 s.

The hosts are network namespaces, which need root. In place of Kubernetes, the benchmark restarts an
ended pod immediately. TensorFlow gives up a silent worker after some 10 s; both workers then wait
for each other and continue from the last checkpoint.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

from tests.benchmarks.report import Limit, print_line
from tests.launchers.hosts import two_hosts
from tests.launchers.pods import begin_pod
from tests.waiting import LIMIT_SECONDS, until
from workbench.config import RunConfig
from workbench.runs import Run, start_run

LOST = Limit(
    "missing rows of steps after the link was blocked for 30 s", "", at_most=0, always=True
)
PAUSE_SECONDS = 30.0
DELAY_SECONDS = 0.005
STEPS, WORKERS = 400, 2
LAST = 40
"""The number of events, and of lines of each log, printed for a run that does not finish."""
CONFIG = RunConfig(
    launcher="kubernetes",
    container="image",
    volume_claim="runs",
    strategy="multi_worker_mirrored",
    workers=WORKERS,
    steps_per_call=10,
    steps_per_epoch=50,
    epochs=STEPS // 50,
)


def pause(root: Path, seconds: float) -> int:
    """Return the number of missing rows at the end."""
    with two_hosts(DELAY_SECONDS) as hosts:
        run = start_run(CONFIG, root)
        pods = [begin_pod(run, hosts, host) for host in range(WORKERS)]
        over = threading.Event()

        def begin_anew() -> None:
            while not over.wait(0.5):
                for host, pod in enumerate(pods):
                    if pod.poll():
                        pods[host] = begin_pod(run, hosts, host)

        keeper = threading.Thread(target=begin_anew)
        keeper.start()
        try:
            until(lambda: run.progress.step >= 60)
            hosts.link.is_cut.set()
            time.sleep(seconds)
            before, paused = run.progress.step, time.monotonic()
            hosts.link.is_cut.clear()
            until(lambda: run.progress.step > before)
            print_line(f"steps continue {time.monotonic() - paused:.1f} s after the link")
            ended = run.wait(LIMIT_SECONDS)
        finally:
            over.set()
            keeper.join()
            for pod in pods:
                pod.kill()
    if ended != "finished":
        for entry in (*run.events()[-LAST:], *run.logs(LAST).items()):
            print_line(str(entry))
        raise RuntimeError(f"the run ended as {ended}: {run.failure}")
    print_line(f"the first worker started at the steps {starting_steps(run)}")
    return WORKERS * STEPS - len(run.replica_steps())


def starting_steps(run: Run) -> list[int]:
    """Return the steps at which the first worker started, also after a restart."""
    starts = [each for each in run.events() if each["event"] == "start"]
    return [each["step"] for each in starts if each["task"] == "worker-0"]


def main() -> int:
    """Measure and print; the exit status is 1 if rows are missing."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="a pause of half the time")
    seconds = PAUSE_SECONDS / 2 if options.parse_args().quick else PAUSE_SECONDS
    with tempfile.TemporaryDirectory() as folder:
        os.environ["WORKBENCH_STATE"] = f"{folder}/state"
        return int(not LOST.judge([pause(Path(folder), seconds)]))


if __name__ == "__main__":
    sys.exit(main())
