"""`workbench script`: print, save, open, compare or run a script."""

from __future__ import annotations

import shlex
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.before import check_tensorflow, devices_for, print_notes
from workbench.cli.flags import add_config_flags, add_runs_dir, config_from, given_flags
from workbench.cli.terminal import OK, OutputError
from workbench.config import Problem
from workbench.fields import NOT_IN_SCRIPTS
from workbench.plan import PlanError, make_plan
from workbench.plan.checks import LONGEST_NAME
from workbench.runs import start_run
from workbench.runs.folder.files import KEPT_CODE, expanded, runs_root
from workbench.runs.functions import keep_function
from workbench.runs.processes.environment import observed, pack_observer
from workbench.runs.processes.own_modules import own_files
from workbench.runs.programs.own_data import inspect_data
from workbench.scripts import Opened, ScriptError, read_script, unified

if TYPE_CHECKING:
    from workbench.config import RunConfig
    from workbench.plan import Plan
    from workbench.runs import Run


def add_flags(parser: ArgumentParser) -> None:
    """Add the flags."""
    parser.description = "Print or save the script without running it."
    parser.add_argument("-o", "--output", metavar="FILE", help="train.py or train.ipynb")
    text = "Also save observe.pyz beside FILE: it records the script where the workbench is not."
    parser.add_argument("--observer", action="store_true", help=text)
    text = "A saved script to start from: its settings, with constants that you changed in it."
    parser.add_argument("--open", metavar="FILE", help=text)
    text = "Print the changes from another script to this one, as a unified diff."
    parser.add_argument("--diff", metavar="FILE", help=text)
    add_config_flags(parser)
    add_runs_dir(parser)
    parser.set_defaults(command=script)


def script(arguments: Namespace) -> int:
    """`workbench script`: print the script, or save it without overwriting another text."""
    from workbench.codegen import needs_starter, render_notebook, render_script

    opened = _opened(Path(arguments.open)) if arguments.open else None
    config = config_from(arguments, _config_of(opened, arguments) if opened else None)
    plan = make_plan(config, devices_for(config), inspect_data(config, trains_here=False))
    text = render_script(plan)
    path = None if arguments.output is None else expanded(arguments.output)
    notebook = path is not None and path.suffix == ".ipynb"
    if arguments.observer and (path is None or notebook):
        raise OutputError("--observer is saved beside a script. Add: --output train.py")
    if arguments.diff is not None:
        return print_difference(expanded(arguments.diff), text)
    if path is None:
        print(text, end="")
        return OK
    _save(path, render_notebook(plan) if notebook else text)
    for file in own_files(plan):
        print(f"It imports {file.name}: keep that file beside it.", file=sys.stderr)
    starter = "workbench run --script" if needs_starter(plan) else "python"
    how = f"Run it with: {starter} {shlex.quote(str(path))}"
    print(f"Saved {path}. {'Open it in Jupyter' if notebook else how}")
    if arguments.observer:
        _save_observer(path, plan)
    return OK


def _config_of(opened: Opened, arguments: Namespace) -> RunConfig:
    """Report how the script of `--open` is understood; return its config, its code in files."""
    _report(opened, arguments.open, "No flag has these edits, so the new script lacks them:")
    return opened.with_files(_kept(opened, arguments))


def run_as_it_is(arguments: Namespace) -> Run:
    """Start the script named by `--script` without any change."""
    path = Path(arguments.script)
    return run_opened(_opened(path), str(path), arguments, ("preset", "config"))


def run_opened(opened: Opened, name: str, arguments: Namespace, refused: Sequence[str]) -> Run:
    """Start a script without any change. `refused` flags cannot be given together with it."""
    also = given_flags(arguments)
    check_alone(arguments, name, refused)
    _report(opened, name, "These edits are no settings; the script runs with them:")
    devices = devices_for(opened.with_files(also))
    if problems := check_tensorflow(devices):
        raise PlanError(problems)
    plan = opened.plan_as_it_is(devices, _kept(opened, arguments), **also)
    print_notes(plan)
    name = also.get("name", Path(name).name[:LONGEST_NAME])
    return start_run(plan, arguments.runs_dir, devices, name, script=opened.text)


def print_difference(other: Path, script: str) -> int:
    """Print the changes that turn another script into this one."""
    difference = unified(_text(other), script, str(other), "this script")
    print(difference, end="")
    if not difference:
        print(f"{other} and this script are the same.", file=sys.stderr)
    return OK


def check_alone(arguments: Namespace, script: str, refused: Sequence[str]) -> None:
    """Refuse flags for values that the script itself sets."""
    given = [name for name in given_flags(arguments) if name not in NOT_IN_SCRIPTS]
    given += [name for name in refused if getattr(arguments, name) is not None]
    if given:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        fix = (
            f"Leave them out and edit the script, or: workbench script --open {shlex.quote(script)}"
        )
        rule = "given without flags for values that it sets itself"
        raise ScriptError(rule, flags, f"{fix} {flags.split(', ')[0]} ...")


def _opened(path: Path) -> Opened:
    text, folder = _text(path), path.expanduser().absolute().parent
    return read_script(text, folders=(folder, folder / KEPT_CODE))


def _text(path: Path) -> str:
    try:
        return path.expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, RuntimeError) as error:
        fix = f"Fix the path: {str(error).rstrip('.')}."
        raise PlanError(
            [Problem("script", "a text file that can be read", str(path), fix)]
        ) from error


def _kept(opened: Opened, arguments: Namespace) -> dict[str, str]:
    root = runs_root(arguments.runs_dir)
    return {each.field: keep_function(each.source, each.function, root) for each in opened.kept}


def _report(opened: Opened, name: str, edits: str) -> None:
    """Report on standard error how the script was understood, and below `edits` the other edits.

    Standard output belongs to the script or the run.
    """
    plan = opened.plan
    how = "is unchanged" if opened.as_made else "was edited"
    print(f"{name} {how} since the workbench wrote it.", file=sys.stderr)
    epochs = f"{opened.config.epochs} epoch{'s' * (opened.config.epochs != 1)}"
    trains = f"{plan.strategy_label} strategy, {plan.who_trains}, {epochs}"
    print(f"  understood as: {trains}", file=sys.stderr)
    if difference := opened.edits:
        print(f"  {edits}\n{difference}", file=sys.stderr, end="")


def _save_observer(script: Path, plan: Plan) -> None:
    try:
        saved = pack_observer(script.absolute().parent)
    except OSError as error:
        raise OutputError(
            f"Cannot save observe.pyz beside {script}: {error.strerror}. Choose a folder that can "
            "be written."
        ) from error
    words = observed(script.name, gradient_norms=plan.config.gradient_norms)
    where = "on each host, with its TF_CONFIG" if len(plan.tasks) > 1 else "anywhere"
    print(f"Saved {saved}. Record the script {where}, with: {words}")


def _save(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        if path.is_file() and path.read_bytes() == text.encode():
            return
        raise OutputError(
            f"Not saved: {path} exists and differs. Choose another name, or remove it first."
        ) from None
    except OSError as error:
        raise OutputError(
            f"Cannot save {path}: {error.strerror}. Choose a folder that can be written."
        ) from error
