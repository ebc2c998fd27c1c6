"""Start of a run: plan, script, folder, supervisor."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from workbench.launchers import ENGINES
from workbench.runs.folder.archive import refusal
from workbench.runs.folder.card import new_card
from workbench.runs.folder.files import (
    CARD,
    REHEARSAL_FOLDER,
    SCRIPT,
    RunError,
    json_text,
    make_folder,
    new_id,
    runs_root,
    sha256,
)
from workbench.runs.processes.bounds import Bounds
from workbench.runs.processes.own_modules import keep_files, module_hashes
from workbench.runs.supervise.rehearsal import MADE_FOR, proof_of, went_well

from .run import Run
from .spawn import spawn, take

if TYPE_CHECKING:
    from workbench.config import RunConfig
    from workbench.devices import Devices
    from workbench.plan import Plan, Problem


def start_run(
    config: RunConfig,
    runs_dir: str | os.PathLike[str] | None = None,
    devices: Devices | None = None,
    name: str = "",
    *,
    rehearse: bool = True,
) -> Run:
    """Plan, write and start a run, and return while the run goes on by itself.

    Args:
        config: the config to train with.
        runs_dir: the folder of runs; None: `$WORKBENCH_RUNS`, else `runs`.
        devices: the result of `workbench.devices.detect`; None detects now, which takes seconds.
        name: the name shown in lists; empty: the name in the config.
        rehearse: whether two steps of the user's own model or step are done first, once for each
            plan.

    Raises:
        PlanError: the config cannot be planned, the name is too long, nothing can be copied to
            its archive, or its launcher cannot start it; or the user's own model, which is built
            once in a separate process before a run on this machine, cannot be trained. No run
            folder is made.
        RunError: the folder cannot be written or the supervisor does not start. No folder is left.
    """
    from workbench.codegen import render_script
    from workbench.plan.launching import is_local
    from workbench.runs.programs.detection import detect_devices
    from workbench.runs.programs.inspection import inspect_model

    devices = devices or detect_devices(config.interpreter)
    root = runs_root(runs_dir)
    plan = _planned(config, devices, root, name)
    own, local = plan.own_model or plan.own_step, is_local(config)
    if local and plan.own_model is not None:
        inspect_model(plan)
    script = render_script(plan)
    # A job runs on other hosts: a script that works here may fail there, and the reverse.
    due = rehearse and local and own is not None and not _is_rehearsed(root, plan, script)
    rehearsal = _rehearsal(plan, script) if due else {}
    return _begin(root, plan, devices, script, sha256(script), name, rehearsal)


def start_edited(
    script: str,
    plan: Plan,
    devices: Devices,
    runs_dir: str | os.PathLike[str] | None = None,
    name: str = "",
) -> Run:
    """Start a run of a script that was edited by hand, unchanged; return while the run goes on.

    Args:
        script: the text of the script. It is never changed, neither now nor by a resume.
        plan: the plan of the script before the edit; the run is shown and watched by this plan.
        devices: the devices for which the plan was made.
        runs_dir: the folder of runs; None: `$WORKBENCH_RUNS`, else `runs`.
        name: the name shown in lists; empty: the name in the config.

    Raises:
        PlanError: the name is too long, nothing can be copied to its archive, or its launcher
            cannot start it. No run folder is made.
        RunError: the folder cannot be written or the supervisor does not start. No folder is left.
    """
    from workbench.codegen import render_script
    from workbench.plan import PlanError

    root = runs_root(runs_dir)
    _check_place(plan.config, root, name)
    if problems := _problems_of_engine(plan):
        raise PlanError(problems)
    return _begin(root, plan, devices, script, sha256(render_script(plan)), name)


def _begin(
    root: Path,
    plan: Plan,
    devices: Devices,
    script: str,
    made_sha256: str,
    name: str = "",
    rehearsal: Mapping[str, str] = MappingProxyType({}),
) -> Run:
    texts = {
        "config.json": json_text(plan.config.to_json()),
        "devices.json": json_text(devices.to_json()),
        "plan.json": json_text(plan.to_json()),
        SCRIPT: script,
    }
    texts |= rehearsal
    named = name or plan.config.name
    card = new_card(new_id(root), named, plan.interpreter, script, made_sha256)
    folder = make_folder(root, card["id"], {**texts, CARD: json_text(card)})
    try:
        keep_files(plan, folder)
        return start_script(folder)
    except RunError:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _planned(config: RunConfig, devices: Devices, root: Path, name: str) -> Plan:
    """Return the plan, or raise all problems of the config, the name and the archive."""
    from workbench.plan import PlanError, make_plan
    from workbench.runs.programs.own_data import inspect_data

    problems: list[Problem] = []
    try:
        plan = make_plan(config, devices, inspect_data(config))
    except PlanError as error:
        problems += error.problems
    try:
        _check_place(config, root, name)
    except PlanError as error:
        problems += error.problems
    problems = problems or _problems_of_engine(plan)
    if problems:
        raise PlanError(problems)
    return plan


def _problems_of_engine(plan: Plan) -> list[Problem]:
    engine = ENGINES.get(plan.config.launcher)
    return engine.problems(plan.config, plan.tasks) if engine else []


def _is_rehearsed(root: Path, plan: Plan, script: str) -> bool:
    modules = module_hashes(plan, Path.cwd())
    norms = plan.config.gradient_norms
    return went_well(root, proof_of(script, plan.interpreter, modules, gradient_norms=norms))


def _rehearsal(plan: Plan, script: str) -> dict[str, str]:
    """Return the files of a rehearsal of this plan."""
    from workbench.codegen import render_script

    short = plan.rehearsal
    texts = {
        "plan.json": json_text(short.to_json()),
        SCRIPT: render_script(short),
        MADE_FOR: sha256(script),
    }
    return {f"{REHEARSAL_FOLDER}/{name}": text for name, text in texts.items()}


def _check_place(config: RunConfig, root: Path, name: str) -> None:
    """Raise the problems of a run's name and of its archive, if there are any."""
    from workbench.plan import PlanError, Problem
    from workbench.plan.checks import check_name
    from workbench.plan.problems import Findings

    findings = Findings()
    check_name(findings, name)
    if config.archive and (refused := refusal(config.archive, root)):
        findings.problems.append(Problem("archive", *refused))
    if findings.problems:
        raise PlanError(findings.problems)


def start_script(run_dir: Path, bounds: Bounds | None = None) -> Run:
    """Start the supervisor of a run folder that is already written.

    Raises:
        RunError: the run is alive, or the supervisor does not start.
    """
    lock = take(run_dir, "started")
    try:
        spawn(run_dir, lock, bounds or Bounds())
    finally:
        os.close(lock)
    return Run(run_dir)
