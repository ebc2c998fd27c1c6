"""What data of one's own is: its function is called once in a child of the run's interpreter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from .config import RunConfig
from .devices.tpu_build import WITHOUT_TPU
from .plan import PlanError, Problem
from .plan.own_data import DataFacts, is_own
from .plan.own_function import module_file, read_own_function
from .plan.problems import Findings

PROGRAM = Path(__file__).parent / "engine" / "programs" / "inspect_data.py"
TIMEOUT_SECONDS = 1800.0
"""Long enough for a function that downloads its data the first time."""


@dataclass(frozen=True)
class _Request:
    """What is asked of which Python, where; the same request has the same answer."""

    text: str
    interpreter: str
    folder: str
    changed: str
    """When an imported module's own file was last written."""


_found: dict[_Request, DataFacts] = {}


def look(config: RunConfig) -> DataFacts | None:
    """Return what a config's own data is; None of data of the catalogue.

    The function is called once for the same text and interpreter: it takes as long as it takes,
    and seconds for TensorFlow.

    Raises:
        PlanError: it cannot be found, called, or trained on; the problem's field is `data`.
    """
    if not is_own(config.data):
        return None
    request = _request(config)
    if request not in _found:
        _found[request] = _ask(request)
    return _found[request]


def known(config: RunConfig) -> DataFacts | None:
    """Return what an earlier look found, at once; None where none has or the function is gone."""
    try:
        return _found.get(_request(config)) if is_own(config.data) else None
    except PlanError:
        return None


def _request(config: RunConfig) -> _Request:
    findings = Findings()
    function = read_own_function(findings, "data", config.data)
    if function is None or findings.problems:
        raise PlanError(findings.problems)
    asked = {"function": function.function, "source": function.source, "module": function.module}
    file = module_file(function.module) if function.module is not None else None
    changed = "" if file is None else f"{file} {file.stat().st_mtime_ns}"
    interpreter = config.interpreter or sys.executable
    return _Request(json.dumps(asked), interpreter, str(Path.cwd()), changed)


def _ask(request: _Request) -> DataFacts:
    paths = filter(None, [os.environ.get("PYTHONPATH"), request.folder])
    environment = {name: text for name, text in os.environ.items() if name != "TF_CONFIG"}
    environment |= WITHOUT_TPU | {
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONSAFEPATH": "1",
    }
    try:
        child = subprocess.run(
            [request.interpreter, str(PROGRAM)],
            input=request.text,
            capture_output=True,
            text=True,
            errors="replace",  # a function can print any bytes
            timeout=TIMEOUT_SECONDS,
            check=False,
            cwd=request.folder,
            env=environment,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _failed(str(error)) from error
    lines = [line for line in child.stdout.splitlines() if line.startswith("{")]
    if child.returncode != 0 or not lines:
        said = [line for line in child.stderr.splitlines() if line.strip()]
        raise _failed(said[-1] if said else "it ended without a word")
    told = json.loads(lines[-1])
    if "problem" in told:
        raise PlanError([Problem("data", **told["problem"])])
    return DataFacts(**told["facts"])


def _failed(got: str) -> PlanError:
    rule = "a function that can be called in the run's interpreter"
    return PlanError([Problem("data", rule, got, "Call it there by itself and mend what it says.")])
