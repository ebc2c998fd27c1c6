"""Parses the command line, calls the command, and turns errors into a message and a status."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from ..config import ConfigError, field_types
from .parser import USAGE_ERROR, make_parser
from .terminal import FAILED, OK, OutputError

UNPLANNABLE = 2
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status.

    0: done. 1: failed. 2: wrong usage, or the config cannot be planned. 130: interrupted.
    """
    parser = make_parser()
    parsed = parser.parse_args(arguments)
    if parsed.command is None:
        parser.print_help(sys.stderr)
        return USAGE_ERROR
    try:
        status = int(parsed.command(parsed))
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("\nInterrupted. Runs that have started continue.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader, such as head, has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except Exception as error:
        return _report(error)
    return status


def _report(error: Exception) -> int:
    """Print an error with a fix that the user can apply, and return the exit status.

    Raises:
        Exception: the error itself, if it is another one.
    """
    # Imported here because few commands need these rooms, and errors are rare.
    from ..devices import DeviceError
    from ..environments import MakingError
    from ..lab import LabError
    from ..runs import RunError

    if isinstance(error, ConfigError | DeviceError):
        problems = error.problems if isinstance(error, ConfigError) else ()
        print(
            "These settings do not work here:", *(problems or [error]), sep="\n  ", file=sys.stderr
        )
        fields = dict.fromkeys(each.field for each in problems if each.field in field_types())
        if fields:
            print(f"More about them: workbench explain {' '.join(fields)}", file=sys.stderr)
        return UNPLANNABLE
    if isinstance(error, RunError | LabError | OutputError | MakingError):
        print(error, file=sys.stderr)
        return FAILED
    raise error
