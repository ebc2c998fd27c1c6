"""The parser of the command line. A command and its flags are imported when it is chosen."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, NoReturn

from ..config import did_you_mean
from ..version import __version__

USAGE_ERROR = 2
COMMANDS = {
    "detect": ("machine:detect_flags", "show the devices of this machine"),
    "run": ("run:add_flags", "train and watch"),
    "script": ("scripts:add_flags", "print or save the script without running it"),
    "config": ("run:config_flags", "print settings as JSON, for run --config, or their schema"),
    "runs": ("runs:runs_flags", "list, show, watch, X-ray, stop, resume, pack, delete runs"),
    "evaluate": ("runs:evaluate_flags", "test the model of a run that has ended"),
    "why": ("why:add_flags", "show where a step's time goes, and what to change"),
    "explain": ("explain:add_flags", "explain an error: what is wrong, and what to do"),
    "matrix": ("matrix:add_flags", "run every strategy in both loops and check that they agree"),
    "compare": (
        "compare:add_flags",
        "train strategies, loops or batches side by side, or compare existing runs",
    ),
    "scale": ("scale:add_flags", "show up to which batch size more replicas help a run"),
    "export": (
        "exports:add_flags",
        "write runs as CSV, Parquet, TensorBoard event files or one HTML page",
    ),
    "bundle": ("bundles:add_flags", "write a finished run to a zip file, to repeat it elsewhere"),
    "find": ("find:add_flags", "find the batch size or the learning rate by trials"),
    "tf-config": ("tf_config:add_flags", "make TF_CONFIG for tasks on several hosts, and check it"),
    "environment": (
        "machine:environment_flags",
        "make a Python environment with the TensorFlow that fits this machine",
    ),
    "lab": ("machine:lab_flags", "open the workbench in JupyterLab"),
}
"""For each command: the function in a module of `commands` that adds its flags, and its help."""
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

    def __init__(self, flags: str | None = None, **options: Any) -> None:
        """Make a parser. `flags` is as in `COMMANDS`: they are added at the first use."""
        super().__init__(**{"allow_abbrev": False, **options})
        self._flags = flags

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the arguments. An unknown argument is an error of this command, not of a parent."""
        self._load()
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            flag = unknown[0].split("=")[0]
            nearest = did_you_mean(flag, self._option_string_actions, "")
            self.error(f"unknown argument {flag}. {nearest}".rstrip())
        return parsed, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            choose = f"Choose {', '.join(action.choices)}."
            self.error(f"invalid choice {value}. {did_you_mean(value, action.choices, choose)}")

    def error(self, message: str) -> NoReturn:
        """Print the problem as a short message, not below a page of usage, and exit."""
        print(f"{self.prog}: {message}\nSee {self.prog} --help", file=sys.stderr)
        sys.exit(USAGE_ERROR)

    def help_texts(self) -> Iterator[tuple[str, str]]:
        """Yield this command and each command below it, with its help."""
        self._load()
        yield self.prog, self.format_help()
        for action in self._actions:
            choices = action.choices.values() if isinstance(action.choices, Mapping) else ()
            for below in filter(lambda each: isinstance(each, Parser), choices):
                yield from below.help_texts()

    def _load(self) -> None:
        """Import the command of this parser and add its flags, once."""
        if self._flags is not None:
            module, _, add_flags = self._flags.partition(":")
            self._flags = None
            getattr(import_module(f".commands.{module}", __package__), add_flags)(self)


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
    for name, (flags, text) in COMMANDS.items():
        adding.add_parser(name, help=text, flags=flags)
    return parser
