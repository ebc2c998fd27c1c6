"""Directives that make the reference from the code: the fields of a config, and the commands."""

from __future__ import annotations

import dataclasses
import typing

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from workbench.catalog import CHOICES
from workbench.cli.parser import make_parser
from workbench.config import RunConfig, field_types
from workbench.field_help import FIELD_HELP

KINDS = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "yes or no",
    tuple[str, ...]: "names",
    type(None): "empty",
}
"""The types of fields, in words."""


class ConfigFields(SphinxDirective):
    """All fields of `RunConfig`, each with an anchor such as `#field-epochs`."""

    def run(self) -> list[nodes.Node]:
        """Return a heading and a text for each field."""
        text = "\n\n".join(map(field_text, field_types()))
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def field_text(name: str) -> str:
    """Return the name of a field as a heading, its type and default, its help, and its choices."""
    hint = field_types()[name]
    kinds = " or ".join(KINDS[each] for each in typing.get_args(hint) or (hint,))
    default = next(each.default for each in dataclasses.fields(RunConfig) if each.name == name)
    shown = "empty" if default in (None, "") else str(default)
    choices = ", ".join(f"`{each}`" for each in CHOICES.get(name, ()))
    lines = [
        f"(field-{name})=",
        f"## {name}",
        "",
        f"{kinds.capitalize()}; default: {shown}.",
        "",
        FIELD_HELP[name],
    ]
    return "\n".join([*lines, *(["", f"One of {choices}."] if choices else [])])


class CommandLine(SphinxDirective):
    """The help of each command of `workbench`."""

    def run(self) -> list[nodes.Node]:
        """Return a heading and a block with the help of each command."""
        made = []
        for command, text in make_parser().help_texts():
            heading = f"({command.replace(' ', '-')})=\n## `{command}`\n\n"
            made.append(f"{heading}```text\n{text.rstrip()}\n```")
        return self.parse_text_to_nodes("\n\n".join(made), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directives."""
    app.add_directive("config-fields", ConfigFields)
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True}
