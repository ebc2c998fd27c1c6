"""The start-up time of the workbench: `import workbench`, `Workbench()`, and a command.

`python -m tests.benchmarks.startup [--quick]` times them in fresh interpreters, in turn with
`import plotly, pandas, ipywidgets`, which any such tool needs. It checks that no process imports
TensorFlow.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from tests.benchmarks.report import print_line

ROUNDS = 15
QUICK_ROUNDS = 3
LIMIT_SECONDS = {"import workbench": 0.3, "Workbench()": 1.5, "workbench runs list": 0.6}
RUNS_LIST = """
import contextlib, io
from workbench.cli import main
with contextlib.redirect_stdout(io.StringIO()):
    main(["runs", "list"])
"""
CODE = {
    "import workbench": "import workbench",
    "Workbench()": "from workbench import Workbench; Workbench()",
    "workbench runs list": RUNS_LIST,
    "import plotly, pandas, ipywidgets": "import plotly, pandas, ipywidgets",
}
TIMED = """
import sys, time
began = time.perf_counter()
{code}
print(time.perf_counter() - began, "tensorflow" in sys.modules)

# It detects the devices in a separate process, which must end before the next round.
import psutil
psutil.wait_procs(psutil.Process().children(recursive=True), timeout=60)
"""


def seconds(code: str, folder: str) -> float:
    """Run code in a fresh interpreter and return its seconds."""
    environment = os.environ | {"WORKBENCH_RUNS": f"{folder}/runs", "WORKBENCH_STATE": folder}
    command = [sys.executable, "-c", TIMED.format(code=code)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=environment, cwd=Path.cwd()
    )
    taken, tensorflow = done.stdout.split()
    if tensorflow != "False":
        raise RuntimeError(f"`{code}` must not import TensorFlow; it did.")
    return float(taken)


def main() -> int:
    """Measure and print; the exit status is 1 if a median is over its limit."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="few rounds, to try the benchmark")
    rounds = QUICK_ROUNDS if options.parse_args().quick else ROUNDS
    times: dict[str, list[float]] = {name: [] for name in CODE}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds + 1):
            for name, code in CODE.items():
                times[name].append(seconds(code, folder))
    missed = False
    for name, measured in times.items():
        first, median, third = np.percentile(measured[1:], [25, 50, 75])
        limit = LIMIT_SECONDS.get(name)
        over = limit is not None and median > limit
        missed = missed or over
        verdict = "" if limit is None else f"; at most {limit} s: {'MISSED' if over else 'reached'}"
        print_line(f"{name}: {median:.3f} s, quartiles [{first:.3f}, {third:.3f}]{verdict}")
    print_line("no TensorFlow in any of the processes")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
