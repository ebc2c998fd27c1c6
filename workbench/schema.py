"""The JSON schema of a config, by which editors complete and check a file of settings."""

from __future__ import annotations

import math
from typing import Any

from .catalog import CHOICES
from .config import CONFIG_VERSION, SCHEMA, USUAL, field_types
from .fields import FIELDS, Row

_TYPES = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    tuple[str, ...]: "array",
}
_OR_OWN = ("data", "model")
"""Choices that can also be a function of the user."""


def config_schema() -> dict[str, Any]:
    """Return the schema of the JSON that `RunConfig.to_json` writes and `--config` reads."""
    fields = {name: _property(name, row) for name, row in FIELDS.items()}
    return {
        SCHEMA: "https://json-schema.org/draft/2020-12/schema",
        "title": "Settings of a run",
        "type": "object",
        "properties": {
            SCHEMA: {"type": "string"},
            "version": {"const": CONFIG_VERSION},
            **fields,
        },
        "additionalProperties": False,
    }


def _property(name: str, row: Row) -> dict[str, Any]:
    kinds, default = [_TYPES[each] for each in field_types()[name]], getattr(USUAL, name)
    about = {"title": row.label, "description": row.help, "type": kinds}
    found: dict[str, Any] = {**about, "default": default}
    if name in CHOICES:
        names = [*CHOICES[name], *([None] if default is None else [])]
        found["examples" if name in _OR_OWN else "enum"] = names
    if "array" in kinds:
        found["items"] = {"type": "string"}
    if row.above_zero is not None:
        found["exclusiveMinimum"] = 0
    if row.range:
        found["minimum"] = row.range.least
        found |= {} if math.isinf(row.range.most) else {"maximum": row.range.most}
    return found
