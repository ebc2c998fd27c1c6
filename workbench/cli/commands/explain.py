"""`workbench explain`: what an error means, and what to do."""

from __future__ import annotations

import sys
import textwrap
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from workbench.cli.terminal import OK, OutputError
from workbench.cli.watching import LINE_WIDTH
from workbench.errors import Error, field_named, find
from workbench.fields import FIELDS


def add_flags(parser: ArgumentParser) -> None:
    """Add the flags."""
    parser.description = (
        "Explain an error: what is wrong, and what to do. Give the text of the error, a field such"
        " as global_batch_size, or a name of the page Errors in the documentation. Without an"
        " argument, the text is read from standard input: workbench explain < log.txt"
    )
    parser.add_argument("error", metavar="ERROR", nargs="*", help="a text, a field or a name")
    parser.set_defaults(command=explain)


def explain(arguments: Namespace) -> int:
    """Print what is known about an error, or about each of several fields.

    Raises:
        OutputError: nothing is known about it.
    """
    words = arguments.error
    if not words and sys.stdin.isatty():
        raise OutputError("No error was given. Write its text, a field or a name behind explain.")
    texts = words if all(map(field_named, words)) else [" ".join(words)]
    print("\n\n".join(map(_explained, texts or [sys.stdin.read()])))
    return OK


def _explained(text: str) -> str:
    field, errors = field_named(text), find(text)
    if not field and not errors:
        shown = textwrap.shorten(text, 60, placeholder=" ...") or "an empty text"
        raise OutputError(
            f"No error of the workbench is like this: {shown}. Give the whole first line of the "
            "error, or for failed training the last lines of its log."
        )
    about = [_wrapped(f"{field}: {FIELDS[field].help}")] if field else []
    return "\n\n".join([*about, *("\n".join(_lines(each)) for each in errors)])


def _lines(error: Error) -> Iterator[str]:
    yield _wrapped(error.cause)
    for fix in error.fixes:
        yield _wrapped(fix, "  fix  ")
    if error.name:
        yield f"  name {error.name}"


def _wrapped(text: str, first: str = "") -> str:
    return textwrap.fill(
        text, LINE_WIDTH, initial_indent=first, subsequent_indent=" " * len(first),
        break_on_hyphens=False, break_long_words=False,
    )  # fmt: skip
