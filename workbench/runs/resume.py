"""Resume of a run from its last checkpoint: unchanged, with more epochs or with other workers."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.catalog import STRATEGIES
from workbench.runs.folder.card import MADE
from workbench.runs.folder.files import (
    CARD,
    SCRIPT,
    RunError,
    json_text,
    read_json,
    read_script,
    sha256,
    write_text,
)
from workbench.runs.folder.plan import PLAN, open_script, read_plan
from workbench.runs.folder.state import status
from workbench.runs.processes.bounds import Bounds

from .spawn import spawn, take

if TYPE_CHECKING:
    from workbench.config import RunConfig
    from workbench.plan import Plan


def resume(
    run_dir: Path,
    epochs: int | None = None,
    workers: int | None = None,
    bounds: Bounds | None = None,
) -> None:
    """Resume a run from its last checkpoint, up to `epochs` epochs in total if they are given.

    `workers` is another number of workers; the global batch size stays the same. A train.py edited
    by hand runs unchanged, and its sha256 is noted.

    Raises:
        PlanError: the config cannot be planned with this number of epochs or workers.
        RunError: the run is alive; the run is finished and `epochs` is not larger than before; the
            strategy has no workers to change; or a script edited by hand would be overwritten.
    """
    lock = take(run_dir, "resumed")
    try:
        _prepare(run_dir, epochs, workers)
        spawn(run_dir, lock, bounds or Bounds())
    finally:
        os.close(lock)


def script_of_resume(run_dir: Path, epochs: int | None = None) -> str:
    """Return the script that `resume` with this total number of epochs would run.

    Raises:
        PlanError: the config cannot be planned with this number of epochs.
        RunError: the number of epochs is not possible, or the run cannot be read.
    """
    from workbench.codegen import render_script

    before = _config_of(run_dir)
    config = _with_epochs(before, epochs)
    if config == before:
        return read_script(run_dir)
    return render_script(_plan_of(run_dir, config))


def _prepare(run_dir: Path, epochs: int | None, workers: int | None) -> None:
    card = read_json(run_dir / CARD)
    script = read_script(run_dir)
    made = _made_sha256(run_dir, card, script)
    before = _config_of(run_dir)
    config = _with_workers(_with_epochs(before, epochs), workers, run_dir)
    if config == before:
        if status(run_dir) == "finished":
            done = config.epochs
            raise RunError(
                f"{run_dir.name} has finished all its epochs ({done}). Resume it with "
                f"epochs={done + 1} or more."
            )
        if sha256(script) != card.get("script_sha256"):
            now = {"script_sha256": sha256(script), MADE: made}
            write_text(run_dir / CARD, json_text({**card, **now}))
        return
    if sha256(script) != made:
        raise RunError(
            f"{SCRIPT} was edited by hand (sha256 {sha256(script)[:12]}, originally "
            f"{made[:12]}), and another number of epochs or workers would replace it. Put the "
            "original back, or change EPOCHS or WORKERS in it and resume without them."
        )
    _write_changed(run_dir, card, script, _plan_of(run_dir, config))


def _config_of(run_dir: Path) -> RunConfig:
    """Return the config of a run; of one started by hand, with the files that its folder keeps."""
    if read_json(run_dir / CARD).get("by_hand") and not (run_dir / "devices.json").exists():
        return open_script(run_dir).plan.config
    return read_plan(run_dir).config


def _made_sha256(run_dir: Path, card: Mapping[str, Any], script: str) -> str:
    """Return the sha256 of a run's script as the workbench wrote it, before any edit by hand."""
    from workbench.codegen import render_script

    if MADE in card or not card.get("by_hand"):
        return str(card.get(MADE) or card.get("script_sha256"))
    ran, opened = str(card.get("script_sha256")), open_script(run_dir)
    if sha256(script) != ran:
        return ran
    return sha256(render_script(opened.plan) if opened.edits else script)


def _with_epochs(config: RunConfig, epochs: int | None) -> RunConfig:
    """Return the config with this total number of epochs; None keeps the number."""
    _check_whole("epochs", epochs, config.epochs + 1)
    if epochs is not None and epochs < config.epochs:
        raise RunError(
            f"The run already has {config.epochs} epochs, and epochs={epochs} counts from its "
            f"beginning. Give {config.epochs + 1} or more, or start a new run."
        )
    return dataclasses.replace(config, epochs=config.epochs if epochs is None else epochs)


def _with_workers(config: RunConfig, workers: int | None, run_dir: Path) -> RunConfig:
    """Return the config with this number of workers and the same global batch size.

    None keeps the number.
    """
    _check_whole("workers", workers, 2)
    if workers is None or workers == (plan := read_plan(run_dir)).workers:
        return config
    if not STRATEGIES[plan.strategy].workers or not plan.synchronous:
        raise RunError(
            f"{run_dir.name} uses {plan.strategy_label}, which has no synchronous workers, so "
            "their number cannot change. Resume it without workers, or start a new run."
        )
    return dataclasses.replace(
        config,
        workers=workers,
        global_batch_size=plan.global_batch_size,
        per_replica_batch_size=None,
    )


def _check_whole(name: str, value: int | None, example: int) -> None:
    if value is not None and type(value) is not int:
        raise RunError(f"{name} must be a whole number; received {value!r}. Give {example}.")


def _plan_of(run_dir: Path, config: RunConfig) -> Plan:
    """Return the plan of a changed config, for the devices and the data of the earlier plan."""
    from workbench.devices import Devices
    from workbench.plan import make_plan
    from workbench.plan.applicable_fields import without_unused
    from workbench.plan.checks import LONGEST_NAME

    # Plans of an earlier release accepted long names, fields that a strategy does not use, and
    # batches larger than the data without the choice to repeat it.
    config = without_unused(config, STRATEGIES[config.strategy])
    config = dataclasses.replace(config, name=config.name[:LONGEST_NAME])
    before = read_plan(run_dir)
    if before.examples_per_step > before.num_train_examples and before.last_batch == "repeat":
        config = dataclasses.replace(config, last_batch="repeat")
    path = run_dir / "devices.json"
    known = Devices.from_json(read_json(path)) if path.exists() else open_script(run_dir).machine
    plan = make_plan(config, known, before.data_facts)
    # The run goes on with the code with which it began.
    plan = dataclasses.replace(
        plan, own_model=before.own_model, own_data=before.own_data, own_step=before.own_step
    )
    if plan.local_replicas != before.local_replicas:
        raise RunError(
            f"With {plan.workers} workers, replicas per worker would change from "
            f"{before.local_replicas} to {plan.local_replicas}, and a resume cannot change them. "
            "Start a new run."
        )
    return plan


def _write_changed(run_dir: Path, card: dict[str, object], script: str, plan: Plan) -> None:
    """Write config, plan and script again; keep the earlier script next to them."""
    from workbench.codegen import render_script

    new_script = render_script(plan)
    number = 1 + len(list(run_dir.glob("train-*.py")))
    write_text(run_dir / f"train-{number}.py", script)
    write_text(run_dir / "config.json", json_text(plan.config.to_json()))
    write_text(run_dir / PLAN, json_text(plan.to_json()))
    write_text(run_dir / SCRIPT, new_script)
    now = {"script_sha256": sha256(new_script), MADE: sha256(new_script)}
    write_text(run_dir / CARD, json_text({**card, **now}))
