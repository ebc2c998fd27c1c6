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
from .flags import add_config_flags, add_runs_dir

USAGE_ERROR = 2
FIRST_MINUTE = """\
the first minute:
  workbench detect                                   what there is to train on
  workbench run --preset mlp_synthetic               train and watch
  workbench run --preset mlp_synthetic --replicas 4  over four virtual replicas
  workbench script -o train.py                       the script, to run it anywhere
  workbench lab                                      all of it in JupyterLab
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
    parser = adding.add_parser("detect", help="show what this machine has to train on")
    parser.add_argument("--interpreter", help="the Python that is to train")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(command=machine.detect_devices)


def _add_run(adding: Any) -> None:
    parser = adding.add_parser(
        "run",
        help="train and watch",
        description="Train and watch. Ctrl-C stops with a checkpoint.",
    )
    words = "Run a saved script as it is, edited or not. What it was understood as is printed."
    parser.add_argument("--script", metavar="FILE", help=words)
    words = "With --config bundle.zip: run the bundle's own script as it is, though the workbench "
    words += "does not write the same. It is somebody's code; its sha256 is printed."
    parser.add_argument("--trust", action="store_true", help=words)
    add_config_flags(parser)
    add_runs_dir(parser)
    parser.add_argument("--detach", action="store_true", help="Start it and return at once.")
    words = (
        "Train it here with two to four workers, started again when one is killed, until stopped."
    )
    parser.add_argument("--rehearse", action="store_true", help=words)
    parser.add_argument("--json", action="store_true", help="End with one line of JSON.")
    parser.set_defaults(command=run.run)


def _add_script(adding: Any) -> None:
    words = "print or save the script; runs nothing"
    parser = adding.add_parser("script", help=words, description=f"{words.capitalize()}.")
    parser.add_argument("-o", "--output", metavar="FILE", help="train.py or train.ipynb")
    words = "A saved script to start from. The command reports what it kept and what it did not."
    parser.add_argument("--open", metavar="FILE", help=words)
    words = "Print how another script differs from this one, as a unified difference."
    parser.add_argument("--diff", metavar="FILE", help=words)
    add_config_flags(parser)
    add_runs_dir(parser)
    parser.set_defaults(command=scripts.script)


def _add_runs(adding: Any) -> None:
    parser = adding.add_parser("runs", help="list, show, X-ray, stop, resume, pack, delete runs")
    parser.set_defaults(command=None)
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    for name, words, command in (
        ("list", "all runs, newest first", runs.list_all),
        ("show", "one run: how far it is, or how it ended", runs.show_one),
        ("xray", "take one step apart: what each replica saw, and the sum", runs.xray),
        ("stop", "let it finish its call, save and end", runs.stop),
        ("resume", "go on from the last checkpoint", runs.resume),
        ("pack", "write one to a zip file, to take it along", runs.pack),
        ("restore", "bring one back from its archive or a zip file", runs.restore),
        ("delete", "remove its folder with all that is in it", runs.delete),
    ):
        parser = actions.add_parser(name, help=words, description=f"{words.capitalize()}.")
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
        words = "epochs in all, more than before"
        parser.add_argument("--epochs", type=int, metavar="N", help=words)
        how = "go on with another number of them, where all step together"
        parser.add_argument("--workers", type=int, metavar="N", help=how)
        parser.add_argument("--detach", action="store_true", help="return at once")
    elif action == "xray":
        words = "the step, counted from 0"
        parser.add_argument("--step", type=int, metavar="N", required=True, help=words)
    elif action == "pack":
        parser.add_argument("-o", "--output", metavar="FILE", help="default: beside its folder")
    elif action == "delete":
        parser.add_argument("--yes", action="store_true", help="do not ask first")


def _add_evaluate(adding: Any) -> None:
    parser = adding.add_parser("evaluate", help="test a finished run's model")
    parser.add_argument("run", metavar="RUN", help="a run's id or folder")
    add_runs_dir(parser)
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    parser.set_defaults(command=runs.evaluate)


def _add_matrix(adding: Any) -> None:
    parser = adding.add_parser(
        "matrix",
        help="run every strategy in both loops and prove that they agree",
        description="Run every strategy in both loops at one seed and one global batch, and compare"
        " each with OneDevice. Ctrl-C stops and prints what there is.",
    )
    words = f"steps of each run. Default: {usual_steps('synthetic')}"
    words += f", of images {usual_steps('fashion_mnist')}."
    parser.add_argument("--steps", type=int, metavar="N", help=words)
    words = "synthetic (the MLP) or fashion_mnist (the CNN, in float64), or your own as "
    words += "module:function or file.py:function, with --model. Default: synthetic."
    parser.add_argument("--data", metavar="DATA", default="synthetic", help=words)
    words = "your own model, in float64, as module:function or file.py:function."
    parser.add_argument("--model", metavar="MODEL", help=words)
    words = "only these strategies, beside OneDevice's custom loop."
    parser.add_argument("--strategy", nargs="+", choices=list(STRATEGIES), metavar="S", help=words)
    words = f"{FIELD_HELP['start']} Default: auto."
    parser.add_argument("--start", choices=list(STARTS), default="auto", help=words)
    parser.add_argument("--interpreter", help="the Python that trains")
    add_runs_dir(parser)
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    parser.set_defaults(command=matrix.matrix)


def _add_environment(adding: Any) -> None:
    parser = adding.add_parser(
        "environment",
        help="make a Python environment with the TensorFlow that fits this machine",
        description="Make an environment for runs beside the packages that are there, such as one"
        " with the TPU build on a TPU runtime, and print its interpreter. Ctrl-C gives it up.",
    )
    words = "which TensorFlow. Default: the one that what is here needs and lacks."
    parser.add_argument("--build", choices=BUILDS, help=words)
    parser.add_argument("--interpreter", help="the Python of which it is made")
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    parser.set_defaults(command=environment.environment)


def _add_lab(adding: Any) -> None:
    parser = adding.add_parser("lab", help="open the workbench in JupyterLab")
    add_runs_dir(parser)
    parser.add_argument("--no-browser", action="store_true", help="print the address only")
    parser.set_defaults(command=machine.lab)
