"""Start of a run: plan, script, folder, supervisor."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.config import RunConfig
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
from workbench.runs.folder.plan import PLAN
from workbench.runs.processes.bounds import Bounds
from workbench.runs.processes.own_modules import keep_files, module_hashes
from workbench.runs.supervise.rehearsal import MADE_FOR, proof_of, went_well

from .run import Run
from .spawn import spawn, take

if TYPE_CHECKING:
    from workbench.devices import Devices
    from workbench.plan import Plan


def start_run(
    asked: RunConfig | Plan,
    runs_dir: str | os.PathLike[str] | None = None,
    devices: Devices | None = None,
    name: str = "",
    *,
    script: str | None = None,
    rehearse: bool = True,
) -> Run:
    """Write and start a run, and return while the run goes on by itself.

    Args:
        asked: the plan of the run, or a config, which is planned here.
        runs_dir: the folder of runs; None: `$WORKBENCH_RUNS`, else `runs`.
        devices: the devices for which the plan is or was made, as `workbench.devices.detect` finds
            them; None detects now, which takes seconds.
        name: the name shown in lists; empty: the name in the config.
        script: a script that was edited by hand; None: the plan's script. It is never changed,
            neither now nor by a resume; the run is shown and watched by the plan.
        rehearse: whether two steps of the user's own model or step are done first, once for each
            plan. An edited script is not rehearsed.

    Raises:
        PlanError: the config cannot be planned, the name is too long, nothing can be copied to
            its archive, or its launcher cannot start it; or the user's own model, which is built
            once in a separate process before a run on this machine, cannot be trained. No run
            folder is made.
        RunError: the folder cannot be written or the supervisor does not start. No folder is left.
    """
    from workbench.codegen import render_script
    from workbench.runs.programs.detection import detect_devices

    config = asked if isinstance(asked, RunConfig) else asked.config
    devices, root = devices or detect_devices(config.interpreter), runs_root(runs_dir)
    plan = _checked(asked, devices, root, name)
    made = render_script(plan)
    rehearsal = _tried(root, plan, made, rehearse=rehearse) if script is None else {}
    script = made if script is None else script
    card = new_card(new_id(root), name or config.name, plan.interpreter, script, sha256(made))
    texts = {
        "config.json": json_text(config.to_json()),
        "devices.json": json_text(devices.to_json()),
        PLAN: json_text(plan.to_json()),
        SCRIPT: script,
        CARD: json_text(card),
        **rehearsal,
    }
    folder = make_folder(root, card["id"], texts)
    try:
        keep_files(plan, folder)
        return start_script(folder)
    except RunError:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _checked(asked: RunConfig | Plan, devices: Devices, root: Path, name: str) -> Plan:
    """Return the plan, or raise all problems of the config, the name, the archive, the engine."""
    from workbench.plan import PlanError, Problem, make_plan
    from workbench.plan.checks import check_name
    from workbench.plan.problems import Findings
    from workbench.runs.programs.own_data import inspect_data

    findings, plan = Findings(), None
    config = asked if isinstance(asked, RunConfig) else asked.config
    if isinstance(asked, RunConfig):
        try:
            plan = make_plan(asked, devices, inspect_data(asked))
        except PlanError as error:
            findings.problems += error.problems
    else:
        plan = asked
    check_name(findings, name)
    if config.archive and (refused := refusal(config.archive, root)):
        findings.problems.append(Problem("archive", *refused))
    if plan and not findings.problems and (engine := ENGINES.get(config.launcher)):
        findings.problems += engine.problems(config, plan.tasks)
    if plan is None or findings.problems:
        raise PlanError(findings.problems)
    return plan


def _tried(root: Path, plan: Plan, script: str, *, rehearse: bool) -> dict[str, str]:
    """Build the user's own model; return the files of a rehearsal, if one is due.

    A job runs on other hosts: code that works here may fail there, and the reverse.
    """
    from workbench.codegen import render_script
    from workbench.plan.launching import is_local
    from workbench.runs.programs.inspection import inspect_model

    if not is_local(plan.config) or not (plan.own_model or plan.own_step):
        return {}
    if plan.own_model is not None:
        inspect_model(plan)
    if not rehearse:
        return {}
    modules, norms = module_hashes(plan, Path.cwd()), plan.config.gradient_norms
    proof = proof_of(script, plan.interpreter, modules, gradient_norms=norms)
    if went_well(root, proof):
        return {}
    short = plan.rehearsal
    texts = {
        PLAN: json_text(short.to_json()),
        SCRIPT: render_script(short),
        MADE_FOR: sha256(script),
    }
    return {f"{REHEARSAL_FOLDER}/{name}": text for name, text in texts.items()}


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
