"""Train scripts of several workers, one process for each worker: `workers_together.py DIR...`.

TensorFlow allows one strategy of several workers per process, so all scripts share the first one.
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
    first.run_and_leave(first.run_task, worker=main)
