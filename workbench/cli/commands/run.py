"""`workbench run`: check, start and watch; and `workbench config`, the settings for it."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace

from workbench.cli.before import ahead_of_a_run, checked, devices_for, print_notes
from workbench.cli.flags import add_config_flags, add_runs_dir, config_from, is_bundle
from workbench.cli.terminal import OK
from workbench.cli.watching import follow
from workbench.plan import rehearsal_in_words, rehearsed
from workbench.runs import RunError, start_run
from workbench.schema import config_schema
from workbench.units import STEADY


def add_flags(parser: ArgumentParser) -> None:
    """Add the flags."""
    parser.description = "Train and watch. Ctrl-C stops with a checkpoint."
    text = "Run a saved script as it is, edited or not. Prints what the workbench reads from it."
    parser.add_argument("--script", metavar="FILE", help=text)
    text = "With --config bundle.zip: run the bundle's own script unchanged, even if the workbench "
    text += "would write another one for its config. It is another person's code; its sha256 is "
    text += "printed."
    parser.add_argument("--trust", action="store_true", help=text)
    add_config_flags(parser)
    add_runs_dir(parser)
    parser.add_argument("--detach", action="store_true", help="Start it and return immediately.")
    text = "Rehearse on this machine, with two to four workers. If one is killed, all restart. The "
    text += "changes to the config are printed first. Raise --epochs to have time to kill a worker."
    parser.add_argument("--rehearse", action="store_true", help=text)
    text = f"End with one line of JSON. Its examples_per_second are the {STEADY}."
    parser.add_argument("--json", action="store_true", help=text)
    parser.set_defaults(command=run)


def run(arguments: Namespace) -> int:
    """`workbench run`: check, start and watch; and `workbench config`, the settings for it."""
    if arguments.script is not None:
        from .scripts import run_as_it_is

        return follow(run_as_it_is(arguments), arguments)
    if is_bundle(arguments):
        from .bundles import replay

        return replay(arguments)
    if arguments.trust:
        raise RunError(
            "--trust only works with --config bundle.zip. Leave it out, or name the bundle."
        )
    config = config_from(arguments)
    if arguments.rehearse:
        print(f"Note: {rehearsal_in_words(config)}", file=sys.stderr, flush=True)
        config = rehearsed(config)
    with ahead_of_a_run(config):
        devices = devices_for(config)
        plan = checked(config, devices)
        print_notes(plan)
        return follow(start_run(plan, arguments.runs_dir, devices), arguments)


def config_flags(parser: ArgumentParser) -> None:
    """Add the flags of `workbench config`."""
    parser.description = (
        "Print settings as JSON, for a file that `workbench run --config FILE` reads. Without flags"
        " they are the defaults."
    )
    text = "Print the JSON schema instead: with it, editors complete and check the file."
    parser.add_argument("--schema", action="store_true", help=text)
    add_config_flags(parser)
    parser.set_defaults(command=print_config)


def print_config(arguments: Namespace) -> int:
    """Print the config of the flags, or the schema of all configs."""
    shown = config_schema() if arguments.schema else config_from(arguments).to_json()
    print(json.dumps(shown, indent=2))
    return OK
