"""The command that runs benchmarks one after another; see the package."""

from __future__ import annotations

import argparse
import subprocess
import sys

from tests.benchmarks.report import print_line

NAMES = (
    *(
        "house",
        "startup",
        "reading",
        "training_speed",
        "fit_speed",
        "recording_cost",
        "run_overhead",
    ),
    *(
        "first_step",
        "run_view",
        "steps_per_call",
        "agreement",
        "resuming",
        "shapes",
        "colab",
        "lab",
    ),
    *(
        "lab_start",
        "run_panel",
        "comparison",
        "comparison_view",
        "pairs",
        "noise_scale",
        "batch_finder",
    ),
    *("tournament", "verdict", "beyond", "link_pause", "cluster_start", "answers", "forking"),
)


def main() -> int:
    """Run the named benchmarks, or all; the exit status is 1 if a limit is missed."""
    options = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    options.add_argument("names", nargs="*", metavar="name", help=f"of: {', '.join(NAMES)}")
    options.add_argument("--quick", action="store_true", help="few rounds, to try the benchmarks")
    chosen = options.parse_args()
    if unknown := set(chosen.names) - set(NAMES):
        options.error(f"a name must be one of {', '.join(NAMES)}; got {', '.join(unknown)}")
    missed = False
    for name in chosen.names or NAMES:
        print_line(f"== {name}")
        command = [sys.executable, "-m", f"tests.benchmarks.{name}"]
        done = subprocess.run([*command, *(["--quick"] if chosen.quick else [])], check=False)
        missed = missed or done.returncode != 0
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
