"""Starting a run: plan, script, folder, supervisor. And resuming one."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.catalog import STRATEGIES

from . import locks
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
    unwritable,
    write_text,
)
from .failure import log_tail
from .launch import PACKAGE_ROOT, SUPERVISOR_LOG
from .run import Run
from .state import alive_error, run_lock, status
from .watchdog import Bounds

if TYPE_CHECKING:
    from workbench.config import RunConfig
    from workbench.devices import Devices

    from .warm import WarmStart

HANDSHAKE_SECONDS = 120.0


def start_run(
    config: RunConfig,
    runs_dir: str | os.PathLike[str] | None = None,
    devices: Devices | None = None,
    name: str = "",
    warm: WarmStart | None = None,
) -> Run:
    """Plan, write and start a run, and return while it goes on by itself.

    Args:
        config: what to train.
        runs_dir: the folder of runs; None: `$WORKBENCH_RUNS`, else `runs`.
        devices: what `workbench.devices.detect` found; None asks now, which takes seconds.
        name: shown in lists; empty: the config's.
        warm: processes that wait for a run; used where they fit this one.

    Raises:
        PlanError: the config cannot be planned; no folder is made.
        RunError: the folder cannot be written or the supervisor does not start; none is left.
    """
    from workbench.codegen import render_script
    from workbench.devices import detect
    from workbench.plan import make_plan

    devices = devices or detect(config.interpreter)
    plan = make_plan(config, devices)
    texts = {
        "config.json": json_text(config.to_json()),
        "devices.json": json_text(devices.to_json()),
        "plan.json": json_text(plan.to_json()),
        SCRIPT: render_script(plan),
    }
    root = runs_root(runs_dir)
    card = _new_card(new_id(root), name or config.name, plan.interpreter, texts[SCRIPT])
    folder = make_folder(root, card["id"], {**texts, "run.json": json_text(card)})
    try:
        return start_script(folder, warm=warm)
    except RunError:
        shutil.rmtree(folder, ignore_errors=True)
        raise


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


def start_script(run_dir: Path, bounds: Bounds | None = None, warm: WarmStart | None = None) -> Run:
    """Start the supervisor over a run folder that is already written.

    Raises:
        RunError: the run is alive, or the supervisor does not start.
    """
    lock = _take(run_dir, "started")
    try:
        _spawn(run_dir, lock, bounds or Bounds(), warm)
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
        _spawn(run_dir, lock, bounds or Bounds())
    finally:
        os.close(lock)
    return Run(run_dir)


def _take(run_dir: Path, deed: str) -> int:
    # A supervisor that has just written its final state still holds the lock for a moment.
    lock = locks.take(run_lock(run_dir), patience_seconds=0.3)
    if lock is None and status(run_dir) in ("finished", "stopped", "failed"):
        lock = locks.take(run_lock(run_dir), patience_seconds=5.0)
    if lock is None:
        raise alive_error(run_dir, deed)
    return lock


def _prepare(run_dir: Path, epochs: int | None, workers: int | None) -> None:
    run = Run(run_dir)
    card = read_json(run_dir / "run.json")
    script = run.script
    config = _changed(run, epochs, workers)
    if config == run.config:
        if run.status == "finished":
            before = config.epochs
            raise RunError(
                f"A finished run goes on only for more epochs; {run.id} has done all {before}. "
                f"Resume it with epochs={before + 1} or more."
            )
        if sha256(script) != card.get("script_sha256"):
            write_text(run_dir / "run.json", json_text({**card, "script_sha256": sha256(script)}))
        return
    if sha256(script) != card.get("script_sha256"):
        raise RunError(
            f"Another number of epochs or workers writes a new {SCRIPT}, and this one was edited "
            f"by hand (sha256 {sha256(script)[:12]}, made as {str(card.get('script_sha256'))[:12]})"
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
    from workbench.plan.uses import without_unused

    # Of an earlier release, whose plans passed over what a strategy has no use for.
    config = without_unused(config, STRATEGIES[config.strategy])
    plan = make_plan(config, Devices.from_json(read_json(run.dir / "devices.json")))
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
    write_text(run.dir / "run.json", json_text({**card, "script_sha256": sha256(anew)}))


def _spawn(run_dir: Path, lock: int, bounds: Bounds, warm: WarmStart | None = None) -> None:
    """Have a supervisor inherit the lock, and wait until it has written its first event."""
    log = run_dir / SUPERVISOR_LOG
    ready, answer = os.pipe()
    arguments = [str(run_dir.absolute())]
    for name, seconds in dataclasses.asdict(bounds).items():
        arguments += [f"--{name.replace('_', '-')}", str(seconds)]
    interpreter = str(read_json(run_dir / "run.json").get("interpreter"))
    try:
        (run_dir / "stop").unlink(missing_ok=True)
        launcher = None
        if warm and warm.fits(interpreter) and warm.hand_over(arguments, lock, answer):
            group = warm.group
        else:
            launcher = _launch(arguments, lock, answer, log)
            group = launcher.pid
    except OSError as error:
        os.close(ready)
        raise unwritable(run_dir, error) from error
    finally:
        os.close(answer)
    with os.fdopen(ready, "rb") as pipe:
        told = select.select([pipe], [], [], HANDSHAKE_SECONDS)[0]
        reply = pipe.read() if told else b""
    if not told:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    if launcher:
        launcher.wait()
    if refusal := _refusal(reply, log, waited=not told):
        raise RunError(refusal)


def _launch(arguments: list[str], lock: int, answer: int, log: Path) -> subprocess.Popen[bytes]:
    """Start what starts a supervisor as nobody's child."""
    command = [sys.executable, "-m", "workbench.runs.supervisor", *arguments]
    with log.open("ab") as output:
        return subprocess.Popen(
            [*command, "--detach", "--lock-fd", str(lock), "--ready-fd", str(answer)],
            cwd=PACKAGE_ROOT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            pass_fds=(lock, answer),
        )


def _refusal(reply: bytes, log: Path, *, waited: bool) -> str:
    if reply:
        return str(json.loads(reply)["error"])
    what = f"nothing within {HANDSHAKE_SECONDS:g} s" if waited else "an end without an answer"
    return (
        f"A run is under way when its supervisor answers; received {what}. Its log ends with: "
        f"{log_tail(log, 5) or '(nothing)'}. Check that {sys.executable} can import workbench, "
        "then start again."
    )
