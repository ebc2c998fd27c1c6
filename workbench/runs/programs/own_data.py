"""Facts about the user's own data: its function runs once, with the run's interpreter."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.config import RunConfig
from workbench.fields import is_own
from workbench.plan import PlanError, Problem
from workbench.plan.own_function import kept_name, read_own_function
from workbench.plan.plan import DataFacts
from workbench.plan.problems import Findings
from workbench.runs.processes.environment import Launch
from workbench.runs.supervise.user_code import line_in_user_code

from .child import ON_CPU, Work, run_to_end
from .inspection import changed
from .published import check_published
from .run import program

PROGRAM = "inspect_data"
TIMEOUT_SECONDS = 1800.0
"""Long enough for a function that downloads its data the first time."""


@dataclass(frozen=True)
class _Request:
    """A question, with its interpreter and folders; equal requests have equal answers."""

    text: str
    interpreter: str
    folder: str
    """The folder of the function's file; empty for a module."""
    working_dir: str
    changed: str
    """The state of the function's file."""


_found: dict[_Request, DataFacts] = {}


def inspect_data(config: RunConfig, *, trains_here: bool = True) -> DataFacts | None:
    """Return the facts about a config's own data; None for data of the catalogue.

    If a run `trains_here`, the files of a published data set must be here, or the address of their
    download must answer within seconds. The user's own function is called once for the same text
    and interpreter. This takes the function's time and some seconds for TensorFlow, at most
    `TIMEOUT_SECONDS` in all.

    Raises:
        PlanError: the function cannot be found or called, its data cannot be trained on, or files
            can be neither found nor downloaded; the problem's field is `data`.
    """
    if not is_own(config.data):
        if trains_here:
            check_published(config)
        return None
    request = _request(config)
    if request not in _found:
        _found[request] = _ask(request, config.start)
    return _found[request]


def known(config: RunConfig) -> DataFacts | None:
    """Return the facts that an earlier `inspect_data` found, without a new one.

    None if there was no earlier inspection, or if the function is missing.
    """
    try:
        return _found.get(_request(config)) if is_own(config.data) else None
    except PlanError:
        return None


def _request(config: RunConfig) -> _Request:
    findings = Findings()
    function = read_own_function(findings, "data", config.data)
    if function is None or findings.problems:
        raise PlanError(findings.problems)
    # A notebook's function is in a file of its own, which can be imported too.
    module = function.module or kept_name(function.function, function.source or "")
    asked = json.dumps({"function": function.function, "module": module})
    interpreter, here = config.interpreter or sys.executable, str(Path.cwd())
    return _Request(asked, interpreter, function.folder or "", here, changed(function))


def _ask(request: _Request, start: str) -> DataFacts:
    here = Path(request.working_dir)
    folders = tuple(Path(each) for each in (request.folder, here) if each)
    launch = Launch(request.interpreter, here, folders)
    work = Work(launch, program(PROGRAM), ON_CPU, request.text.encode(), start)
    try:
        ended = run_to_end(work, TIMEOUT_SECONDS)
    except OSError as error:  # or a TimeoutError
        raise _failed(str(error)) from error
    if ended.exit_status != 0 or not ended.answers:
        raise _failed(ended.message)
    answer = ended.answers[-1]
    if "problem" in answer:
        place = line_in_user_code(answer.get("traceback", ""), {})
        problem = Problem("data", **answer["problem"])
        raise PlanError([replace(problem, got=f"{problem.got} ({place})") if place else problem])
    return DataFacts(**answer["facts"])


def _failed(got: str) -> PlanError:
    rule = "a function that can be called in the run's interpreter"
    return PlanError([Problem("data", rule, got, "Call it there by itself and fix its error.")])
