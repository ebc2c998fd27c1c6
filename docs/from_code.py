"""Directives that make pages from the code: the fields of a config, the commands, the errors."""

from __future__ import annotations

import dataclasses
import itertools

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from workbench.catalog import CHOICES
from workbench.cli.parser import make_parser
from workbench.config import RunConfig, field_types
from workbench.errors import Error, all_errors, find
from workbench.fields import FIELDS, SECTIONS

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
    """All fields of `RunConfig` by section, each with an anchor such as `#field-epochs`."""

    def run(self) -> list[nodes.Node]:
        """Return a heading and a text for each section and each of its fields."""
        text = "\n\n".join(section_text(*each) for each in SECTIONS.items())
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def section_text(title: str, section: type) -> str:
    """Return the heading of a section, what it is about, and its fields."""
    names = [field.name for field in dataclasses.fields(section)]
    return "\n\n".join([f"## {title}", str(section.__doc__), *map(field_text, names)])


def field_text(name: str) -> str:
    """Return the name of a field as a heading, its type and default, its help, and its choices."""
    kinds = " or ".join(KINDS[each] for each in field_types()[name])
    default = next(each.default for each in dataclasses.fields(RunConfig) if each.name == name)
    shown = "empty" if default in (None, "") else str(default)
    choices = ", ".join(f"`{each}`" for each in CHOICES.get(name, ()))
    lines = [
        f"(field-{name})=",
        f"### {name}",
        "",
        f"{kinds.capitalize()}; default: {shown}.",
        "",
        FIELDS[name].help,
    ]
    lines += ["", f"One of {choices}."] if choices else []
    lines += ["", f"[Its errors](#errors-{name})"] if find(name) else []
    return "\n".join(lines)


class CommandLine(SphinxDirective):
    """The help of each command of `workbench`."""

    def run(self) -> list[nodes.Node]:
        """Return a heading and a block with the help of each command."""
        made = []
        for command, text in make_parser().help_texts():
            heading = f"({command.replace(' ', '-')})=\n## `{command}`\n\n"
            made.append(f"{heading}```text\n{text.rstrip()}\n```")
        return self.parse_text_to_nodes("\n\n".join(made), allow_section_headings=True)


class ErrorList(SphinxDirective):
    """All errors by topic, each with its name as its anchor."""

    def run(self) -> list[nodes.Node]:
        """Return a section for each topic; in the settings, one for each field."""
        made: list[nodes.Node] = []
        for topic, errors in itertools.groupby(all_errors(), key=lambda each: each.topic):
            section = self._section(topic, f"errors-{nodes.make_id(topic)}")
            for field, about in itertools.groupby(errors, key=lambda each: each.field):
                part = nodes.definition_list("", *map(_entry, about))
                section += self._of_field(field, part) if field else part
            made.append(section)
        return made

    def _of_field(self, field: str, part: nodes.Node) -> nodes.section:
        section = self._section(field, f"errors-{field}")
        section += self.parse_text_to_nodes(f"[What it means](#field-{field})")
        section += part
        return section

    def _section(self, title: str, anchor: str) -> nodes.section:
        """Return a section to which other pages can link."""
        section = nodes.section("", nodes.title(title, title), ids=[anchor], names=[anchor])
        self.state.document.note_explicit_target(section)
        return section


def _entry(error: Error) -> nodes.definition_list_item:
    """Return an error's cause as a term, with its name as anchor, and its remedies below."""
    fixes = [nodes.paragraph("", "", *_with_code(each)) for each in error.fixes]
    term = nodes.term("", "", *_with_code(error.cause), ids=[error.name])
    return nodes.definition_list_item("", term, nodes.definition("", *fixes))


def _with_code(text: str) -> list[nodes.Node]:
    """Return a text with the parts between backticks as code."""
    parts = enumerate(text.split("`"))
    return [nodes.literal(each, each) if at % 2 else nodes.Text(each) for at, each in parts]


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directives."""
    app.add_directive("config-fields", ConfigFields)
    app.add_directive("command-line", CommandLine)
    app.add_directive("error-list", ErrorList)
    return {"parallel_read_safe": True}
