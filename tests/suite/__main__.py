"""The test command: `python -m tests.suite {test,all} [--room ROOM]`."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.suite.parts import ROOT, parts_of
from tests.suite.session import Result, run
from tests.suite.summary import summary

COUNTING = ROOT / "tests" / "suite" / "counting"
SECONDS = ROOT / "tests" / "suite" / "seconds.json"
NOTED_SECONDS = 1.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status is 1 if lint or a test failed, except for flaky tests."""
    options = parser().parse_args(arguments)
    try:
        parts = parts_of(options.command, options.room)
    except ValueError as error:
        parser().error(str(error))
    began = time.time()
    wall_seconds = {"set-up": began - options.began} if options.began else {}
    if subprocess.run(["make", "--no-print-directory", "lint"], cwd=ROOT, check=False).returncode:
        print("FAILED lint; the tests did not start")
        return 1
    wall_seconds["lint"] = time.time() - began
    results: list[Result] = []
    with tempfile.TemporaryDirectory(prefix="suite-") as folder:
        log = Path(folder) / "tensorflow.log"
        count_tensorflow(log)
        for part in parts:
            print(f"\n== {part.name}", flush=True)
            results.append(run(part))
            wall_seconds[part.name] = results[-1].wall_seconds
        starts = len(log.read_text().splitlines()) if log.exists() else 0
    print(summary(results, wall_seconds, starts), flush=True)
    if options.note_seconds:
        note_seconds(results)
    return int(any(result.failed for result in results))


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(prog="python -m tests.suite", description=__doc__)
    made.add_argument("command", choices=("test", "all"))
    made.add_argument("--room", help="for `all`: a folder or file of tests, such as engine")
    made.add_argument("--began", type=float, help="the start of the set-up, in unix seconds")
    made.add_argument(
        "--note-seconds",
        action="store_true",
        help=f"write the times of tests to {SECONDS.name}; the longest files start first",
    )
    return made


def count_tensorflow(log: Path) -> None:
    """Make every Python that starts after this call write to `log` when it imports TensorFlow."""
    os.environ["SUITE_TENSORFLOW_LOG"] = str(log)
    paths = filter(None, [str(COUNTING), os.environ.get("PYTHONPATH")])
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)


def note_seconds(results: Sequence[Result]) -> None:
    """Store the times of long tests in seconds.json, and keep those of tests that did not run."""
    noted: dict[str, int] = json.loads(SECONDS.read_text())
    for result in results:
        for test, seconds in result.seconds.items():
            noted.pop(test, None)
            if seconds >= NOTED_SECONDS:
                noted[test] = round(seconds)
    SECONDS.write_text(json.dumps(dict(sorted(noted.items())), indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
