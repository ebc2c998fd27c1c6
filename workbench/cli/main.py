"""Parses the command line and calls; every command is a few lines."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .. import __version__
from ..config import ConfigError, RunConfig
from ..devices import DeviceError, Devices, describe, detect
from ..plan import Plan, PlanError, make_plan
from ..runs import RunError, list_runs, open_run, start_run
from .flags import add_config_flags, config_from
from .watching import exit_status, show, table, watch

if TYPE_CHECKING:
    from ..runs import Run

OK, FAILED, UNPLANNABLE = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status: 0 done, 1 failed, 2 cannot be planned."""
    parsed = _parser().parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = parsed.command
    try:
        return command(parsed)
    except PlanError as error:
        print("This cannot be planned:", *error.problems, sep="\n  ", file=sys.stderr)
        return UNPLANNABLE
    except ConfigError as error:
        print(error, file=sys.stderr)
        return UNPLANNABLE
    except (RunError, DeviceError) as error:
        print(error, file=sys.stderr)
        return FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="workbench",
        description="Plan, run, watch and export distributed TensorFlow training.",
    )
    parser.add_argument("--version", action="version", version=f"workbench {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    detecting = commands.add_parser("detect", help="show what this machine has to train on")
    detecting.add_argument("--interpreter", help="the Python that is to train")
    detecting.add_argument("--json", action="store_true", help="print one JSON object")
    detecting.set_defaults(command=_detect)

    running = commands.add_parser("run", help="train and watch")
    add_config_flags(running)
    _add_runs_dir(running)
    running.add_argument("--detach", action="store_true", help="start it and return at once")
    running.add_argument("--json", action="store_true", help="end with one line of JSON")
    running.set_defaults(command=_run)

    scripting = commands.add_parser("script", help="print or save the script; runs nothing")
    add_config_flags(scripting)
    scripting.add_argument("-o", "--output", metavar="FILE", help="train.py or train.ipynb")
    scripting.set_defaults(command=_script)

    _add_runs(commands)

    testing = commands.add_parser("evaluate", help="test a finished run's model")
    testing.add_argument("run", metavar="RUN", help="a run's id or folder")
    _add_runs_dir(testing)
    testing.add_argument("--json", action="store_true", help="print one line of JSON")
    testing.set_defaults(command=_evaluate)

    lab = commands.add_parser("lab", help="open the workbench in JupyterLab")
    _add_runs_dir(lab)
    lab.add_argument("--no-browser", action="store_true", help="print the address only")
    lab.set_defaults(command=_lab)
    return parser


def _add_runs(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    runs = commands.add_parser("runs", help="list, show, stop, resume or delete runs")
    deeds = runs.add_subparsers(required=True, metavar="DEED")
    for name, words, deed in (
        ("list", "all runs, newest first", _runs_list),
        ("show", "one run: how far it is, or how it ended", _runs_show),
        ("stop", "let it finish its call, save and end", _runs_stop),
        ("resume", "go on from the last checkpoint", _runs_resume),
        ("delete", "remove its folder with all that is in it", _runs_delete),
    ):
        parser = deeds.add_parser(name, help=words)
        if name != "list":
            parser.add_argument("run", metavar="RUN", help="a run's id or folder")
        if name == "resume":
            parser.add_argument("--epochs", type=int, help="epochs in all, more than before")
            parser.add_argument("--detach", action="store_true", help="return at once")
        if name == "delete":
            parser.add_argument("--yes", action="store_true", help="do not ask first")
        _add_runs_dir(parser)
        parser.add_argument("--json", action="store_true", help="print JSON")
        parser.set_defaults(command=deed)


def _add_runs_dir(parser: argparse.ArgumentParser) -> None:
    words = "the folder of runs (default: $WORKBENCH_RUNS, else runs)"
    parser.add_argument("--runs-dir", metavar="DIR", help=words)


def _devices_for(config: RunConfig) -> Devices:
    quick = detect(config.interpreter, import_tensorflow=False)
    return detect(config.interpreter) if quick.gpus else quick


def _plan(arguments: argparse.Namespace) -> Plan:
    config = config_from(arguments)
    return make_plan(config, _devices_for(config))


def _detect(arguments: argparse.Namespace) -> int:
    devices = detect(arguments.interpreter)
    print(json.dumps(devices.to_json()) if arguments.json else describe(devices))
    return OK


def _run(arguments: argparse.Namespace) -> int:
    config = config_from(arguments)
    run = start_run(config, arguments.runs_dir, _devices_for(config))
    return _follow(run, arguments)


def _follow(run: Run, arguments: argparse.Namespace) -> int:
    if not arguments.detach:
        watch(run, sys.stderr if arguments.json else sys.stdout)
    elif not arguments.json:
        print(f"Started {run.id} in {run.dir}. Watch it with: workbench runs show {run.dir}")
    if arguments.json:
        print(json.dumps(run.result()))
    return exit_status(run)


def _script(arguments: argparse.Namespace) -> int:
    from ..codegen import render_notebook, render_script

    plan = _plan(arguments)
    if arguments.output is None:
        print(render_script(plan), end="")
        return OK
    path = Path(arguments.output)
    text = render_notebook(plan) if path.suffix == ".ipynb" else render_script(plan)
    if path.exists() and path.read_text(encoding="utf-8") != text:
        print(
            f"Saving never overwrites another text; {path} exists and differs. "
            "Choose another name, or remove it first.",
            file=sys.stderr,
        )
        return FAILED
    path.write_text(text, encoding="utf-8")
    return OK


def _runs_list(arguments: argparse.Namespace) -> int:
    runs = list_runs(arguments.runs_dir)
    print(json.dumps([run.result() for run in runs]) if arguments.json else table(runs))
    return OK


def _runs_show(arguments: argparse.Namespace) -> int:
    run = open_run(arguments.run, arguments.runs_dir)
    print(json.dumps(run.result()) if arguments.json else show(run))
    return OK


def _runs_stop(arguments: argparse.Namespace) -> int:
    run = open_run(arguments.run, arguments.runs_dir)
    run.stop()
    run.wait()
    return _runs_show(arguments)


def _runs_resume(arguments: argparse.Namespace) -> int:
    run = open_run(arguments.run, arguments.runs_dir)
    return _follow(run.resume(arguments.epochs), arguments)


def _runs_delete(arguments: argparse.Namespace) -> int:
    run = open_run(arguments.run, arguments.runs_dir)
    question = f"Delete {run.dir} with its records, checkpoints and model? [y/N] "
    if not arguments.yes and input(question).strip().lower() not in ("y", "yes"):
        print("Kept.")
        return FAILED
    run.delete()
    print(json.dumps({"run": run.id, "deleted": True}) if arguments.json else f"Deleted {run.id}.")
    return OK


def _evaluate(arguments: argparse.Namespace) -> int:
    result = open_run(arguments.run, arguments.runs_dir).evaluate()
    if arguments.json:
        print(json.dumps(result))
        return OK
    print(f"test loss {result['test_loss']:.4f}, test accuracy {result['test_accuracy']:.2%}")
    for row in result["classes"]:
        print(f"  {row['name']:<14} {row['accuracy']:8.2%} of {row['examples']:,}")
    return OK


def _lab(arguments: argparse.Namespace) -> int:
    from ..lab import LabError, launch

    try:
        launch(arguments.runs_dir, open_browser=not arguments.no_browser)
    except LabError as error:
        print(error, file=sys.stderr)
        return FAILED
