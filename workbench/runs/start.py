"""Starting a run: plan, script, folder, supervisor. And resuming one."""

from __future__ import annotations

import dataclasses
import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from workbench.catalog import STRATEGIES
from workbench.launchers import ENGINES

from . import locks
from .archive_place import refusal
from .directory import (
    RUN_VERSION,
    SCRIPT,
    RunError,
    json_text,
    make_folder,
    new_id,
    read_json,
    runs_root,
    sha256,
    write_text,
)
from .rehearsal import FOLDER, MADE_FOR, went_well
from .run import Run
from .spawn import spawn
from .state import alive_error, status, take_lock
from .watchdog import Bounds

if TYPE_CHECKING:
    from workbench.config import RunConfig
    from workbench.devices import Devices
    from workbench.plan import Plan


MADE = "made_sha256"
"""In run.json: of the text that the workbench wrote, whatever a person made of it since."""


def start_run(
    config: RunConfig,
    runs_dir: str | os.PathLike[str] | None = None,
    devices: Devices | None = None,
    name: str = "",
    *,
    rehearse: bool = True,
) -> Run:
    """Plan, write and start a run, and return while it goes on by itself.

    Args:
        config: what to train.
        runs_dir: the folder of runs; None: `$WORKBENCH_RUNS`, else `runs`.
        devices: what `workbench.devices.detect` found; None asks now, which takes seconds.
        name: shown in lists; empty: the config's.
        rehearse: whether two steps of a model of one's own are done first, once for each plan.

    Raises:
        PlanError: the config cannot be planned, the name is too long, or nothing can be copied to
            its archive; no folder of a run is made.
        RunError: the folder cannot be written or the supervisor does not start; none is left.
    """
    from workbench.codegen import render_script
    from workbench.devices import detect
    from workbench.plan.launching import is_local

    devices = devices or detect(config.interpreter)
    root = runs_root(runs_dir)
    plan = _planned(config, devices, root, name)
    script = render_script(plan)
    own, local = plan.own_model or plan.own_step, is_local(config)
    # A job's hosts are not this machine: what is rehearsed here may fail there, and the other way.
    due = rehearse and local and own is not None and not went_well(root, script)
    rehearsal = _rehearsal(plan, script) if due else {}
    return _begin(root, plan, devices, script, sha256(script), name, rehearsal)


def start_edited(
    script: str,
    plan: Plan,
    devices: Devices,
    runs_dir: str | os.PathLike[str] | None = None,
    name: str = "",
) -> Run:
    """Start a run of a script that was edited by hand, as it is; return while it goes on.

    Args:
        script: the text; no letter of it is changed, now or when the run is resumed.
        plan: what the script was before it was edited; the run is shown and watched by it.
        devices: what the plan was made for.
        runs_dir: the folder of runs; None: `$WORKBENCH_RUNS`, else `runs`.
        name: shown in lists; empty: the config's.

    Raises:
        PlanError: the name is too long, or nothing can be copied to its archive; no folder of a
            run is made.
        RunError: the folder cannot be written or the supervisor does not start; none is left.
    """
    from workbench.codegen import render_script

    root = runs_root(runs_dir)
    _check_place(plan.config, root, name)
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
    card = _new_card(new_id(root), named, plan.interpreter, script) | {MADE: made_sha256}
    folder = make_folder(root, card["id"], {**texts, "run.json": json_text(card)})
    try:
        return start_script(folder)
    except RunError:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _planned(config: RunConfig, devices: Devices, root: Path, name: str) -> Plan:
    """Return the plan, or raise all that is against it, its name and archive included."""
    from workbench.own_data import look
    from workbench.plan import PlanError, Problem, make_plan

    problems: list[Problem] = []
    try:
        plan = make_plan(config, devices, look(config))
    except PlanError as error:
        problems += error.problems
    try:
        _check_place(config, root, name)
    except PlanError as error:
        problems += error.problems
    if not problems and (engine := ENGINES.get(config.launcher)):
        problems += engine.problems(config, plan.tasks)
    if problems:
        raise PlanError(problems)
    return plan


def _rehearsal(plan: Plan, script: str) -> dict[str, str]:
    """Return the files of a rehearsal of this plan."""
    from workbench.codegen import render_script

    short = plan.rehearsal
    texts = {
        "plan.json": json_text(short.to_json()),
        SCRIPT: render_script(short),
        MADE_FOR: sha256(script),
    }
    return {f"{FOLDER}/{name}": text for name, text in texts.items()}


def _check_place(config: RunConfig, root: Path, name: str) -> None:
    """Raise what is against the name of a run, and against its archive."""
    from workbench.plan import PlanError, Problem
    from workbench.plan.checks import check_name
    from workbench.plan.problems import Findings

    findings = Findings()
    check_name(findings, name)
    if config.archive and (refused := refusal(config.archive, root)):
        findings.problems.append(Problem("archive", *refused))
    if findings.problems:
        raise PlanError(findings.problems)


def _new_card(run_id: str, name: str, interpreter: str, script: str) -> dict[str, Any]:
    return {
        "version": RUN_VERSION,
        "id": run_id,
        "name": name,
        "created": time.time(),
        "script_sha256": sha256(script),
        "interpreter": interpreter,
        "working_dir": str(Path.cwd()),
        "state_dir": str(locks.state_dir()),
    }


def start_script(run_dir: Path, bounds: Bounds | None = None) -> Run:
    """Start the supervisor over a run folder that is already written.

    Raises:
        RunError: the run is alive, or the supervisor does not start.
    """
    lock = _take(run_dir, "started")
    try:
        spawn(run_dir, lock, bounds or Bounds())
    finally:
        os.close(lock)
    return Run(run_dir)


def resume_run(
    run_dir: Path,
    epochs: int | None = None,
    workers: int | None = None,
    bounds: Bounds | None = None,
) -> Run:
    """Go on from the last checkpoint, where `epochs` is given up to that many in all.

    `workers` goes on with another number of them; the global batch stays. A train.py edited by
    hand is run as it is; its sha256 is noted.

    Raises:
        PlanError: the config cannot be planned with this many epochs or workers.
        RunError: the run is alive; it is finished and `epochs` is not larger than before; its
            strategy has no workers to change; or a script edited by hand would be overwritten.
    """
    lock = _take(run_dir, "resumed")
    try:
        _prepare(run_dir, epochs, workers)
        spawn(run_dir, lock, bounds or Bounds())
    finally:
        os.close(lock)
    return Run(run_dir)


def _take(run_dir: Path, deed: str) -> int:
    # A supervisor that has just written its final state still holds the lock for a moment.
    lock = take_lock(run_dir)
    if lock is None and status(run_dir) in ("finished", "stopped", "failed"):
        lock = take_lock(run_dir, patience_seconds=5.0)
    if lock is None:
        raise alive_error(run_dir, deed)
    return lock


def _prepare(run_dir: Path, epochs: int | None, workers: int | None) -> None:
    run = Run(run_dir)
    card = read_json(run_dir / "run.json")
    script = run.script
    made = str(card.get(MADE) or card.get("script_sha256"))
    config = _changed(run, epochs, workers)
    if config == run.config:
        if run.status == "finished":
            before = config.epochs
            raise RunError(
                f"A finished run goes on only for more epochs; {run.id} has done all {before}. "
                f"Resume it with epochs={before + 1} or more."
            )
        if sha256(script) != card.get("script_sha256"):
            now = {"script_sha256": sha256(script), MADE: made}
            write_text(run_dir / "run.json", json_text({**card, **now}))
        return
    if sha256(script) != made:
        raise RunError(
            f"Another number of epochs or workers writes a new {SCRIPT}, and this one was edited "
            f"by hand (sha256 {sha256(script)[:12]}, made as {made[:12]})"
            ". Put the original back, or change EPOCHS or WORKERS in it and resume without them."
        )
    _write_anew(run, card, script, config)


def _changed(run: Run, epochs: int | None, workers: int | None) -> RunConfig:
    """Return the run's config with what a resume is to change."""
    config = run.config
    for name, value, example in (("epochs", epochs, config.epochs + 1), ("workers", workers, 2)):
        if value is not None and type(value) is not int:
            raise RunError(f"{name} is a whole number; received {value!r}. Give {example}.")
    if epochs is not None and epochs < config.epochs:
        raise RunError(
            f"epochs counts from the run's beginning and can only grow; received {epochs}, the "
            f"run has {config.epochs}. Give {config.epochs + 1} or more, or start a new run."
        )
    config = dataclasses.replace(config, epochs=config.epochs if epochs is None else epochs)
    if workers is None or workers == (plan := run.plan).workers:
        return config
    if not STRATEGIES[plan.strategy].workers or not plan.together:
        raise RunError(
            "Only a run whose workers step together goes on with another number of them; "
            f"{run.id} is of {plan.strategy_label}. Resume it without workers, or start a new run."
        )
    return dataclasses.replace(
        config,
        workers=workers,
        global_batch_size=plan.global_batch_size,
        per_replica_batch_size=None,
    )


def _write_anew(run: Run, card: dict[str, object], script: str, config: RunConfig) -> None:
    from workbench.codegen import render_script
    from workbench.devices import Devices
    from workbench.plan import make_plan
    from workbench.plan.checks import LONGEST_NAME
    from workbench.plan.uses import without_unused

    # Of an earlier release, whose plans passed over what a strategy has no use for, and long names.
    config = without_unused(config, STRATEGIES[config.strategy])
    config = dataclasses.replace(config, name=config.name[:LONGEST_NAME])
    devices = Devices.from_json(read_json(run.dir / "devices.json"))
    plan = make_plan(config, devices, run.plan.data_facts)
    if plan.local_replicas != run.plan.local_replicas:
        raise RunError(
            f"The replicas of a worker stay as many as they were, {run.plan.local_replicas}; with "
            f"{plan.workers} workers it would be {plan.local_replicas}. Start a new run."
        )
    anew = render_script(plan)
    number = 1 + len(list(run.dir.glob("train-*.py")))
    write_text(run.dir / f"train-{number}.py", script)
    write_text(run.dir / "config.json", json_text(config.to_json()))
    write_text(run.dir / "plan.json", json_text(plan.to_json()))
    write_text(run.dir / SCRIPT, anew)
    now = {"script_sha256": sha256(anew), MADE: sha256(anew)}
    write_text(run.dir / "run.json", json_text({**card, **now}))
