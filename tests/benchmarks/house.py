"""The size of the house: lines and files, exported scripts, and the way from a flag to a process.

These are counts, so every run prints the same.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import workbench
from tests.benchmarks.report import Limit, print_line
from tests.codegen.golden import OWN_MODEL
from tests.machines import LAPTOP
from workbench import RunConfig, make_plan, render_script
from workbench.cli import main as workbench_command
from workbench.plan import Plan

PACKAGE = Path(workbench.__file__).parent
ROOT = PACKAGE.parent
OF_SCRIPTS = ("engine", "capture", "codegen", "scripts", "observe")
MOST_LINES = 350
SCRIPTS = {
    "MLP, Mirrored, custom": RunConfig(),
    "MLP, Mirrored, fit": RunConfig(loop="fit"),
    "Fashion-MNIST CNN, Mirrored, custom": RunConfig(data="fashion_mnist"),
    "MultiWorkerMirrored, custom": RunConfig(strategy="multi_worker_mirrored"),
    "MultiWorkerMirrored, fit": RunConfig(strategy="multi_worker_mirrored", loop="fit"),
    "ParameterServer, custom": RunConfig(strategy="parameter_server"),
    "ParameterServer, fit": RunConfig(strategy="parameter_server", loop="fit"),
    "own model, custom": RunConfig(model=f"{OWN_MODEL}:build_model"),
}
START = ("run", "--epochs", "1", "--steps-per-epoch", "2", "--start", "cold", "--detach")
LIMITS = (
    Limit("lines of Python in workbench/", "lines", at_most=50_600),
    Limit("files in workbench/", "files", at_most=420),
    Limit("plans made from a flag to a process", "plans", at_most=1, always=True),
)


class StartedError(BaseException):
    """The supervisor's process would start now."""


def lines_of(*folders: Path) -> dict[Path, int]:
    """Return the number of lines of each Python file below folders."""
    files = (path for folder in folders for path in folder.rglob("*.py"))
    return {path: len(path.read_text(encoding="utf-8").splitlines()) for path in files}


def way_to_a_process() -> tuple[int, int, int]:
    """Return the functions and calls that are handed a config or a plan, and the plans made.

    The way begins with the arguments of `workbench run` and ends before the supervisor's process.
    """
    handed: list[tuple[str, str]] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        ours = event == "call" and code.co_filename.startswith(str(PACKAGE))
        if ours and any(isinstance(each, RunConfig | Plan) for each in arguments_of(frame)):
            handed.append((code.co_filename, code.co_name))

    def stop(event: str, details: tuple[Any, ...]) -> None:
        if event == "subprocess.Popen" and "workbench.runs.supervise" in details[1]:
            raise StartedError

    sys.addaudithook(stop)
    with tempfile.TemporaryDirectory() as folder:
        sys.setprofile(note)
        try:
            workbench_command([*START, "--runs-dir", folder])
        except StartedError:
            pass
        finally:
            sys.setprofile(None)
    planned = [name for _, name in handed if name == "make_plan"]
    return len(set(handed)), len(handed), len(planned)


def arguments_of(frame: FrameType) -> Iterator[object]:
    """Yield the arguments with which a function was called, except `self`."""
    code = frame.f_code
    for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
        if name != "self":
            yield frame.f_locals.get(name)


def main() -> int:
    """Count and print; the exit status is 1 if a count is over its limit."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="the same: nothing is timed")
    options.parse_args()
    product, tests = lines_of(PACKAGE), lines_of(ROOT / "tests")
    for name, config in SCRIPTS.items():
        script = render_script(make_plan(config, LAPTOP))
        print_line(f"script of {name}: {len(script.splitlines())} lines")
    of_scripts = sum(lines_of(*(PACKAGE / room for room in OF_SCRIPTS)).values())
    print_line(f"lines in {', '.join(OF_SCRIPTS)}: {of_scripts:,}")
    print_line(f"lines in workbench/: {sum(product.values()):,}; of tests: {sum(tests.values()):,}")
    long = sum(count > MOST_LINES for count in product.values())
    print_line(f"files in workbench/ with more than {MOST_LINES} lines: {long}")
    functions, calls, plans = way_to_a_process()
    print_line(f"from a flag to a process: {functions} functions, {calls} calls with the config")
    counts = sum(product.values()), len(product), plans
    reached = [limit.judge([count]) for limit, count in zip(LIMITS, counts, strict=True)]
    return int(not all(reached))


if __name__ == "__main__":
    sys.exit(main())
