"""What each command does with what was parsed: a few calls, and what it prints."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.runs.folder.files import expanded
from workbench.runs.processes.forks import loaded_ahead
from workbench.runs.programs.inspection import inspect_model
from workbench.runs.programs.own_data import look

from ..catalog import STRATEGIES
from ..config import Problem, RunConfig
from ..devices import Devices, describe, detect
from ..plan import PlanError, make_plan, rehearsed
from ..plan.keras import needs_legacy_keras
from ..plan.own_data import is_own
from ..runs import RunError, list_runs, open_run, restore_run, start_run
from ..runs.listing import why_unreadable
from .flags import config_from, is_bundle
from .watching import exit_status, show, table, watch

if TYPE_CHECKING:
    from ..plan import Plan
    from ..runs import Run

OK, FAILED = 0, 1


class OutputError(Exception):
    """A file that is not written: the rule, what was met, the change that mends it."""


def detect_devices(arguments: Namespace) -> int:
    """`workbench detect`."""
    devices = detect(arguments.interpreter)
    print(json.dumps(devices.to_json()) if arguments.json else describe(devices))
    return OK


def run(arguments: Namespace) -> int:
    """`workbench run`: check, start and watch."""
    if arguments.script is not None:
        from .scripts import run_as_it_is

        return _follow(run_as_it_is(arguments), arguments)
    if is_bundle(arguments):
        from .bundles import replay

        return replay(arguments)
    if arguments.trust:
        raise RunError(
            "--trust is for the script of a bundle; received no --config that names a .zip file. "
            "Leave it out, or name the bundle."
        )
    config = config_from(arguments)
    if arguments.rehearse:
        config = rehearsed(config)
    devices = devices_for(config)
    with _ahead(config):
        tell_before(checked(config, devices))
        return _follow(start_run(config, arguments.runs_dir, devices), arguments)


def _ahead(config: RunConfig) -> AbstractContextManager[None]:
    """Have TensorFlow loaded once where others than the trainer need it: those that look first."""
    if is_own(config.data) or is_own(config.model or ""):
        legacy = needs_legacy_keras(config)
        return loaded_ahead(config.interpreter, legacy=legacy, start=config.start)
    return nullcontext()


def script(arguments: Namespace) -> int:
    """`workbench script`: print it, or save it where no other text is."""
    from ..codegen import render_notebook, render_script
    from .scripts import open_config, print_difference

    config = config_from(arguments, open_config(arguments) if arguments.open else None)
    plan = make_plan(config, devices_for(config), look(config))
    if arguments.diff is not None:
        return print_difference(expanded(arguments.diff), render_script(plan))
    if arguments.output is None:
        print(render_script(plan), end="")
        return OK
    path = expanded(arguments.output)
    notebook = path.suffix == ".ipynb"
    _save(path, render_notebook(plan) if notebook else render_script(plan))
    how = "Open it in Jupyter" if notebook else f"Run it with: python {path}"
    print(f"Saved {path}. {how}")
    return OK


def list_all(arguments: Namespace) -> int:
    """`workbench runs list`."""
    runs = list_runs(arguments.runs_dir)
    print(json.dumps([_result(each) for each in runs]) if arguments.json else table(runs))
    return OK


def show_one(arguments: Namespace) -> int:
    """`workbench runs show`."""
    opened = open_run(arguments.run, arguments.runs_dir)
    if not arguments.json:
        print(show(opened))
        return OK
    ledger = {
        part: {entry["name"]: entry["seconds"] for entry in entries}
        for part, entries in asdict(opened.ledger).items()
    }
    print(json.dumps({**opened.result(), "ledger": ledger}))
    return OK


def xray(arguments: Namespace) -> int:
    """`workbench runs xray`: do a step once more and show what every replica saw in it."""
    from .xray import table_of_step

    told = open_run(arguments.run, arguments.runs_dir).xray(arguments.step)
    print(json.dumps(told) if arguments.json else table_of_step(told))
    return OK


def stop(arguments: Namespace) -> int:
    """`workbench runs stop`: ask it, wait until it has ended, and show it."""
    opened = open_run(arguments.run, arguments.runs_dir)
    opened.stop()
    opened.wait()
    return show_one(arguments)


def resume(arguments: Namespace) -> int:
    """`workbench runs resume`."""
    opened = open_run(arguments.run, arguments.runs_dir)
    resumed = opened.resume(arguments.epochs, arguments.workers)
    tell_before(resumed.plan)
    return _follow(resumed, arguments)


def restore(arguments: Namespace) -> int:
    """`workbench runs restore`: copy it out of its archive; nothing is started."""
    restored = restore_run(arguments.folder, arguments.runs_dir)
    if arguments.json:
        print(json.dumps(restored.result()))
        return OK
    print(show(restored))
    if restored.status != "finished":
        print(f"Go on with it: workbench runs resume {restored.dir}")
    return OK


def pack(arguments: Namespace) -> int:
    """`workbench runs pack`: one zip file to take along."""
    opened = open_run(arguments.run, arguments.runs_dir)
    path = opened.pack(arguments.output)
    told = {"run": opened.id, "path": str(path), "bytes": path.stat().st_size}
    words = f"Packed {path}, {told['bytes']:,} bytes. Bring it back: workbench runs restore FILE"
    print(json.dumps(told) if arguments.json else words)
    return OK


def delete(arguments: Namespace) -> int:
    """`workbench runs delete`: only after a yes."""
    opened = open_run(arguments.run, arguments.runs_dir)
    if not arguments.yes and not _agreed(f"Delete {opened.dir} with its records and model?"):
        print("Kept.", file=sys.stderr)
        return FAILED
    opened.delete()
    deed = {"run": opened.id, "deleted": True}
    print(json.dumps(deed) if arguments.json else f"Deleted {opened.id}.")
    return OK


def evaluate(arguments: Namespace) -> int:
    """`workbench evaluate`."""
    result = open_run(arguments.run, arguments.runs_dir).evaluate()
    if arguments.json:
        print(json.dumps(result))
        return OK
    known = result["test_accuracy"]
    accuracy = "unknown" if known is None else f"{known:.2%}"
    print(f"test loss {result['test_loss']:.4f}, test accuracy {accuracy}")
    for row in result["classes"]:
        print(f"  {row['name']:<14} {row['accuracy']:8.2%} of {row['examples']:,}")
    return OK


def lab(arguments: Namespace) -> int:
    """`workbench lab`: this process becomes JupyterLab."""
    from ..lab import launch

    return launch(arguments.runs_dir, open_browser=not arguments.no_browser)


def devices_for(config: RunConfig) -> Devices:
    """Ask TensorFlow, which takes seconds, only where the quick look leaves something open."""
    quick = detect(config.interpreter, import_tensorflow=False)
    accelerated = quick.gpus or quick.tpu_chips
    settled = quick.tensorflow_version is not None and not accelerated
    return quick if settled else detect(config.interpreter)


def checked(config: RunConfig, devices: Devices) -> Plan:
    """Say what of the machine cannot be used, and raise all that is against this run at once.

    A model of one's own is built once, apart, before a run is made for it; that takes seconds.
    """
    problems, plan = check_tensorflow(devices), None
    try:
        plan = make_plan(config, devices, look(config))
    except PlanError as error:
        problems += error.problems
    if problems or plan is None:
        raise PlanError(problems)
    if plan.own_model is not None:
        inspect_model(plan)
    return plan


def check_tensorflow(devices: Devices) -> list[Problem]:
    """Return what is against training there; else say what of the machine cannot be used."""
    if devices.tensorflow_version is None:
        rule = "a Python that can import TensorFlow"
        fix = " ".join(devices.problems)
        return [Problem("interpreter", rule, devices.interpreter, fix)]
    for sentence in devices.problems:
        print(f"Note: {sentence}", file=sys.stderr)
    return []


def tell_before(plan: Plan) -> None:
    """Say what is to be known before the start, beside what is printed of the run."""
    for sentence in filter(None, (STRATEGIES[plan.strategy].warning, *plan.notes)):
        print(f"Note: {sentence}", file=sys.stderr, flush=True)


def _follow(followed: Run, arguments: Namespace) -> int:
    if not arguments.detach:
        watch(followed, sys.stderr if arguments.json else sys.stdout)
    elif not arguments.json:
        where = f"Watch it with: workbench runs show {followed.dir}"
        print(f"Started {followed.id} in {followed.dir}. {where}")
    if arguments.json:
        print(json.dumps(followed.result()))
    return exit_status(followed)


def _save(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        if path.is_file() and path.read_bytes() == text.encode():
            return
        raise OutputError(
            f"Saving never overwrites another text; {path} exists and differs. "
            "Choose another name, or remove it first."
        ) from None
    except OSError as error:
        raise OutputError(
            f"A script is saved into a folder that can be written; {path}: {error.strerror}. "
            "Choose another place."
        ) from error


def _result(each: Run) -> dict[str, Any]:
    try:
        return each.result()
    except Exception as error:  # it takes no other run's line away
        why = why_unreadable(error)
        return {"run": each.id, "dir": str(each.dir), "status": "unreadable", "error": why}


def _agreed(question: str) -> bool:
    try:
        return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False
