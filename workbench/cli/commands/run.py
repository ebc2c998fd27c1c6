"""`workbench run`: check, start and watch."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from workbench.cli.before import ahead_of_a_run, checked, devices_for, print_notes
from workbench.cli.flags import add_config_flags, add_runs_dir, config_from, is_bundle
from workbench.cli.watching import follow
from workbench.plan import rehearsal_in_words, rehearsed
from workbench.runs import RunError, start_run
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
    """`workbench run`: check, start and watch."""
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
        print_notes(checked(config, devices))
        return follow(start_run(config, arguments.runs_dir, devices), arguments)
