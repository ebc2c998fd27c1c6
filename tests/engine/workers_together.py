"""Trains scripts of several workers in turn, in one process each: `workers_together.py DIR...`.

TensorFlow makes one strategy of several workers a process, so all share that of the first.
"""

import sys
from pathlib import Path
from typing import Any

from tests.engine.together import load


def main() -> None:
    strategy = None
    for folder in map(Path, sys.argv[1:]):
        script: Any = load(folder / "train.py")
        strategy = strategy or script.make_strategy()
        script.make_strategy = lambda made=strategy: made
        arguments, sys.argv = sys.argv, ["train.py", "--run-dir", str(folder)]
        script.main()
        sys.argv = arguments


if __name__ == "__main__":
    first: Any = load(Path(sys.argv[1]) / "train.py")
    first.run_task(worker=main)
