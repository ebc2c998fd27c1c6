"""The opening of a script: its config, the user's functions, and the parts without a field."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.plan.applicable_fields import USUAL, without_unused

from ..catalog import STRATEGIES
from ..config import ConfigError, RunConfig
from ..devices import Devices
from ..plan import Plan
from ..plan.own_function import SCRIPT_NAMES
from .closest_config import closest_config
from .defaults import without_defaults
from .merging import Merged, merge
from .own import CHECKS, Kept, closure, keep_edited, keep_own, reader, user_function
from .parts import ASSIGNMENT, DEFINITION, Parts, ScriptError, Statement, split
from .reference import Own, Reference, address, facts_of, machine, plan_strictly, refer
from .values import FIELD_OF, PLANNED, UnreadError, constant
from .wording import Difference, differences


@dataclass(frozen=True)
class Opened:
    """A script and the facts found in it; the script itself stays as it is."""

    text: str
    config: RunConfig
    """The values for the form. The address of a kept function names no file here."""
    kept: tuple[Kept, ...]
    differences: tuple[Difference, ...]
    """The differences from the workbench's script for the config, in reading order."""
    as_made: bool
    """Whether the text is exactly as the workbench wrote it."""
    reference: Reference
    """The script before it was edited, as far as the text shows it."""
    _asked: tuple[Mapping[str, Any], Own]

    @property
    def lost(self) -> tuple[Difference, ...]:
        """The differences that only the script holds; the form's own script would lose them."""
        return tuple(each for each in self.differences if each.lost)

    def merged(self, script: str) -> Merged:
        """Return the form's script with the edits of this script, also those without a field.

        A constant whose value no plan can use is not kept: the form has another value.
        """
        parts = split(self.text)
        lines = list(parts.lines)
        for statement in reversed(parts.body):
            made = self.reference.parts.by_key.get(statement.key)
            if made is not None and FIELD_OF.get(statement.name) in self.reference.dropped:
                lines[statement.first - 1 : statement.last] = made.text.split("\n")
        return merge(self.reference.text, "\n".join(lines), script)

    def with_files(self, addresses: Mapping[str, str]) -> RunConfig:
        """Return the config with the addresses of the files of kept functions, by field."""
        return dataclasses.replace(self.config, **dict[str, Any](addresses))

    def plan_as_it_is(self, devices: Devices, addresses: Mapping[str, str], **also: Any) -> Plan:
        """Return the plan of the script before it was edited, to run it as it is.

        `also` holds fields that no script contains.

        Raises:
            PlanError: the script cannot run on these devices.
        """
        fields, own = self._asked
        there = {name: addresses[name] for name in own.functions if name in addresses}
        return plan_strictly({**fields, **also}, own, devices, there)


def read_script(text: str, devices: Devices | None = None) -> Opened:
    """Find the config of a script without running it.

    Args:
        text: the script.
        devices: this machine; values that it would choose by itself are left to the plan.

    Raises:
        ScriptError: the text is not Python, or not a script that the workbench wrote.
    """
    parts = split(text)
    own = _own(parts)
    fields, made = closest_config(parts, own)
    if made is None:
        rule = "a script that shows at least its strategy, loop, data and model"
        fix = "Restore the saved title and constants, then open it again."
        raise ScriptError(rule, parts.title or "a script without a title", fix)
    kept = _keep_own(parts, made, own)
    own = _with_sources(own, kept)
    reference = refer(fields, own, machine(parts, made.plan.strategy)) or made
    shown = fields if devices is None else without_defaults(fields, own, reference, devices)
    config = _with_edited(parts, made, _config(shown, own), kept)
    found = differences(parts, made, kept)
    as_made = reference.text == text
    return Opened(text, config, tuple(kept.values()), found, as_made, reference, (fields, own))


def _own(parts: Parts) -> Own:
    found = {field: user_function(parts, field) for field in CHECKS}
    functions = {field: function for field, function in found.items() if function is not None}
    return Own(functions, facts_of(parts) if "data" in functions else None)


def _with_sources(own: Own, kept: Mapping[str, Kept]) -> Own:
    functions = {
        field: dataclasses.replace(each, source=kept[field].source) if field in kept else each
        for field, each in own.functions.items()
    }
    return dataclasses.replace(own, functions=functions)


def _config(fields: Mapping[str, Any], own: Own) -> RunConfig:
    """Return the config without the constants whose value has the wrong type for the field."""
    addresses: dict[str, Any] = {
        field: address(function) for field, function in own.functions.items()
    }
    config = RunConfig(**addresses)
    for name, value in fields.items():
        with contextlib.suppress(ConfigError):
            config = dataclasses.replace(config, **{name: value})
    return without_unused(config, STRATEGIES[config.strategy])


def _keep_own(parts: Parts, made: Reference, own: Own) -> dict[str, Kept]:
    kept: dict[str, Kept] = {}
    for field, function in own.functions.items():
        if function.module is None:
            kept[field] = keep_own(parts, made.parts, field, function.function, kept.values())
    return kept


def _with_edited(
    parts: Parts, made: Reference, config: RunConfig, kept: dict[str, Kept]
) -> RunConfig:
    """Return the config in which edited workbench functions are the user's own functions."""
    ours = {
        field for field in SCRIPT_NAMES if (DEFINITION, f"check_{field}") not in made.parts.by_key
    }
    optimizer = "model" in ours and _edited(parts, made.parts, "make_optimizer")
    data = "data" in ours and _edited(parts, made.parts, "make_data")
    model = "model" in ours and (data or optimizer or _edited(parts, made.parts, "make_model"))
    if data:
        kept["data"] = keep_edited(parts, "data")
    if model:
        there = {each.name for each in parts.body} - ({"make_optimizer"} if optimizer else set())
        kept["model"] = keep_edited(parts, "model", there)
        named = None if optimizer else made.plan.optimizer
        config = dataclasses.replace(config, optimizer=named)
        if optimizer:
            config = dataclasses.replace(
                config, learning_rate=USUAL.learning_rate, learning_rate_scaling="none"
            )
    addresses: dict[str, Any] = {field: f"script:{each.function}" for field, each in kept.items()}
    return dataclasses.replace(config, **addresses)


def _edited(parts: Parts, ours: Parts, function: str) -> bool:
    """Return whether the script changed a workbench function, or something that it uses."""
    apart = {"make_optimizer"} - {function}
    there = [each for each in (*parts.body, *reader(parts)) if each.name not in apart]
    known = {each.key: each for each in (*ours.body, *reader(ours))}
    return any(_another(each, known.get(each.key), parts) for each in closure(there, {function}))


def _another(statement: Statement, ours: Statement | None, parts: Parts) -> bool:
    if ours is None:
        return True
    if statement.means(ours):
        return False
    if statement.kind != ASSIGNMENT or not statement.name.isupper():
        return True
    try:
        constant(parts, statement.name)
    except UnreadError:
        return True
    return statement.name not in PLANNED
