"""Constants of a script that were changed by hand, as fields of its config."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .. import catalog
from ..config import ConfigError, RunConfig
from ..fields import FIELDS

OVERRULED: dict[str, dict[str, Any]] = {
    "global_batch_size": {"per_replica_batch_size": None},
    "per_replica_batch_size": {"global_batch_size": None},
    "learning_rate": {"learning_rate_scaling": "none"},
}
"""Fields whose changed constant overrules other fields."""


def with_changes(config: RunConfig, before: ast.Module, now: ast.Module) -> RunConfig:
    """Return the config with the values of the constants that differ between two scripts.

    A constant without a value for its field, such as a text in place of a number, stays out.
    """
    old, new = constants(before), constants(now)
    for field, row in reversed(list(FIELDS.items())):  # a replica's batch size last
        code = new.get(row.constant)
        if code is None or code == old.get(row.constant, code) or not _decides(config, field):
            continue
        with contextlib.suppress(ConfigError, LookupError, ValueError, SyntaxError, TypeError):
            config = replace(config, **{**OVERRULED.get(field, {}), field: _value(field, code)})
    if (how := new.get("COMMUNICATION")) and how != old.get("COMMUNICATION"):
        config = replace(config, **_communication(how))
    return config


def constants(tree: ast.Module) -> dict[str, str]:
    """Return the code of each constant of a script, by name."""
    return {
        target.id: ast.unparse(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id.isupper()
    }


def _decides(config: RunConfig, field: str) -> bool:
    """Return whether a field decides its constant: not in every strategy, and not for all data."""
    if field == "synthetic_examples":
        return config.data == "synthetic"
    return field not in ("devices", "replicas", "workers") or getattr(config, field) is not None


def _value(field: str, code: str) -> Any:
    if field in ("cross_device_ops", "optimizer"):
        rows: Mapping[str, Any] = catalog.CHOICES[field]
        return {row.expression: key for key, row in rows.items()}[code]
    return code.rpartition(".")[2].lower() if field == "auto_shard" else ast.literal_eval(code)


def _communication(code: str) -> dict[str, Any]:
    kind = re.search(r"CommunicationImplementation\.(\w+)", code)
    if kind is None:
        return {}
    pack = re.search(r"bytes_per_pack=(\d+)", code)
    return {"communication": kind[1].lower(), "bytes_per_pack": int(pack[1]) if pack else 0}
