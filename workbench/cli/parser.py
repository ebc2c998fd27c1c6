"""The parser of the command line: all commands and their flags."""

from __future__ import annotations

import argparse
import sys
from typing import Any, NoReturn

from ..catalog import STARTS, STRATEGIES
from ..config import did_you_mean
from ..environments import BUILDS
from ..experiments.matrix import usual_steps
from ..field_help import FIELD_HELP
from ..version import __version__
from .commands import (
    bundles,
    compare,
    environment,
    exports,
    find,
    machine,
    matrix,
    run,
    runs,
    scale,
    scripts,
    tf_config,
    why,
)
from .flags import add_config_flags, add_runs_dir, sentence

USAGE_ERROR = 2
FIRST_MINUTE = """\
the first minute:
  workbench detect                                   the devices of this machine
  workbench run --preset mlp_synthetic               train and watch
  workbench run --preset mlp_synthetic --replicas 4  train on four virtual replicas
  workbench script -o train.py                       save the script, to run it anywhere
  workbench lab                                      open the workbench in JupyterLab
"""


class Parser(argparse.ArgumentParser):
    """A parser that suggests the nearest name for a misspelt flag or command.

    It does not accept a flag by its first letters only.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"allow_abbrev": False, **options})

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the arguments. An unknown argument is an error of this command, not of a parent."""
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            flag = unknown[0].split("=")[0]
            nearest = did_you_mean(flag, self._option_string_actions, "")
            self.error(f"there is no {flag} here. {nearest}".rstrip())
        return parsed, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            choose = f"Choose {', '.join(action.choices)}."
            self.error(f"there is no {value} here. {did_you_mean(value, action.choices, choose)}")

    def error(self, message: str) -> NoReturn:
        """Print the problem as a short message, not below a page of usage, and exit."""
        print(f"{self.prog}: {message}\nSee {self.prog} --help", file=sys.stderr)
        sys.exit(USAGE_ERROR)


def make_parser() -> Parser:
    """Return the parser of all commands. The parsed arguments hold the chosen `command`."""
    parser = Parser(
        prog="workbench",
        description="Plan, run, watch and export distributed TensorFlow training.",
        epilog=FIRST_MINUTE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"workbench {__version__}")
    parser.set_defaults(command=None)
    adding = parser.add_subparsers(metavar="COMMAND")
    _add_detect(adding)
    _add_run(adding)
    _add_script(adding)
    _add_runs(adding)
    _add_evaluate(adding)
    why.add_to(adding)
    _add_matrix(adding)
    compare.add_to(adding)
    scale.add_to(adding)
    exports.add_to(adding)
    bundles.add_to(adding)
    find.add_to(adding)
    tf_config.add_to(adding)
    _add_environment(adding)
    _add_lab(adding)
    return parser


def _add_detect(adding: Any) -> None:
    parser = adding.add_parser("detect", help="show the devices of this machine")
    parser.add_argument("--interpreter", help="the Python that trains")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(command=machine.detect_devices)


def _add_run(adding: Any) -> None:
    parser = adding.add_parser(
        "run",
        help="train and watch",
        description="Train and watch. Ctrl-C stops with a checkpoint.",
    )
    text = "Run a saved script as it is, edited or not. The command prints how it was understood."
    parser.add_argument("--script", metavar="FILE", help=text)
    text = "With --config bundle.zip: run the bundle's own script as it is, even if the workbench "
    text += "writes another script for its config. It is another person's code; its sha256 is "
    text += "printed."
    parser.add_argument("--trust", action="store_true", help=text)
    add_config_flags(parser)
    add_runs_dir(parser)
    parser.add_argument("--detach", action="store_true", help="Start it and return immediately.")
    text = "Rehearse on this machine: two to four workers train until you stop them. If one is "
    text += "killed, all start again."
    parser.add_argument("--rehearse", action="store_true", help=text)
    parser.add_argument("--json", action="store_true", help="End with one line of JSON.")
    parser.set_defaults(command=run.run)


def _add_script(adding: Any) -> None:
    text = "print or save the script without running it"
    parser = adding.add_parser("script", help=text, description=sentence(text))
    parser.add_argument("-o", "--output", metavar="FILE", help="train.py or train.ipynb")
    text = "A saved script to start from. The command reports which edits it keeps."
    parser.add_argument("--open", metavar="FILE", help=text)
    text = "Print the changes from another script to this one, as a unified diff."
    parser.add_argument("--diff", metavar="FILE", help=text)
    add_config_flags(parser)
    add_runs_dir(parser)
    parser.set_defaults(command=scripts.script)


def _add_runs(adding: Any) -> None:
    parser = adding.add_parser(
        "runs", help="list, show, watch, X-ray, stop, resume, pack, delete runs"
    )
    parser.set_defaults(command=None)
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    for name, text, command in (
        ("list", "list all runs, newest first", runs.list_all),
        ("show", "show the progress or the result of a run", runs.show_one),
        ("watch", "follow a run until it ends; Ctrl-C leaves it running", runs.watch_one),
        ("xray", "X-ray one step: the numbers of each replica, and their sum", runs.xray),
        ("stop", "stop a run after its current call, with a checkpoint", runs.stop),
        ("resume", "continue a run from its last checkpoint", runs.resume),
        ("pack", "write a run to a zip file, to move it elsewhere", runs.pack),
        ("restore", "restore a run from its archive or a zip file", runs.restore),
        ("delete", "delete the folder of a run with all its files", runs.delete),
    ):
        parser = actions.add_parser(name, help=text, description=sentence(text))
        if name == "restore":
            which = "the run's folder in the archive, or the file that `pack` wrote"
            parser.add_argument("folder", metavar="DIR", help=which)
        elif name != "list":
            parser.add_argument("run", metavar="RUN", help="a run's id or folder")
        _add_options(parser, name)
        add_runs_dir(parser)
        parser.add_argument("--json", action="store_true", help="print JSON")
        parser.set_defaults(command=command)


def _add_options(parser: argparse.ArgumentParser, action: str) -> None:
    """Add the options that only this action takes."""
    if action == "resume":
        text = "the total number of epochs, more than before"
        parser.add_argument("--epochs", type=int, metavar="N", help=text)
        text = "continue with another number of workers, if all workers step together"
        parser.add_argument("--workers", type=int, metavar="N", help=text)
        parser.add_argument("--detach", action="store_true", help="return immediately")
    elif action == "xray":
        text = "the step, counted from 1"
        parser.add_argument("--step", type=int, metavar="N", required=True, help=text)
    elif action == "pack":
        parser.add_argument("-o", "--output", metavar="FILE", help="default: next to its folder")
    elif action == "delete":
        parser.add_argument("--yes", action="store_true", help="do not ask first")


def _add_evaluate(adding: Any) -> None:
    parser = adding.add_parser("evaluate", help="test the model of a run that is over")
    parser.add_argument("run", metavar="RUN", help="a run's id or folder")
    add_runs_dir(parser)
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    parser.set_defaults(command=runs.evaluate)


def _add_matrix(adding: Any) -> None:
    parser = adding.add_parser(
        "matrix",
        help="run every strategy in both loops and prove that they agree",
        description="Run every strategy in both loops with the same seed and global batch, and"
        " compare each run with OneDevice. Ctrl-C stops and prints the results so far.",
    )
    text = f"steps of each run. Default: {usual_steps('synthetic')}"
    text += f"; with images: {usual_steps('fashion_mnist')}."
    parser.add_argument("--steps", type=int, metavar="N", help=text)
    text = "synthetic (the MLP) or fashion_mnist (the CNN, in float64), or your own data as "
    text += "module:function or file.py:function, with --model. Default: synthetic."
    parser.add_argument("--data", metavar="DATA", default="synthetic", help=text)
    text = "your own model, in float64, as module:function or file.py:function."
    parser.add_argument("--model", metavar="MODEL", help=text)
    text = "only these strategies, in addition to OneDevice's custom loop."
    parser.add_argument("--strategy", nargs="+", choices=list(STRATEGIES), metavar="S", help=text)
    text = f"{FIELD_HELP['start']} Default: auto."
    parser.add_argument("--start", choices=list(STARTS), default="auto", help=text)
    parser.add_argument("--interpreter", help="the Python that trains")
    add_runs_dir(parser)
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    parser.set_defaults(command=matrix.matrix)


def _add_environment(adding: Any) -> None:
    parser = adding.add_parser(
        "environment",
        help="make a Python environment with the TensorFlow that fits this machine",
        description="Make a separate environment for runs, such as one with the TPU build on a TPU"
        " runtime, and print its interpreter. Installed packages do not change. Ctrl-C cancels.",
    )
    text = "which TensorFlow. Default: the build that this machine needs and lacks."
    parser.add_argument("--build", choices=BUILDS, help=text)
    parser.add_argument("--interpreter", help="the Python to make it from")
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    parser.set_defaults(command=environment.environment)


def _add_lab(adding: Any) -> None:
    parser = adding.add_parser("lab", help="open the workbench in JupyterLab")
    add_runs_dir(parser)
    parser.add_argument("--no-browser", action="store_true", help="print the address only")
    parser.set_defaults(command=machine.lab)
