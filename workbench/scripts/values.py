"""The config values that a script shows in its title, constants and precision."""

from __future__ import annotations

import ast
import re
from typing import Any

from .. import catalog
from .parts import DEFINITION, OTHER, Parts

_TITLE = re.compile(r"(.+) on (.+): (.+) strategy, (.+), ([^,]+)\.")
_WHO = re.compile(r"(\d+) (?:virtual )?(?:replicas?|workers?)(?: x (\d+) replicas?)?")
COMPILED = "compile_by_xla"
"""The function that a script has if XLA compiles its steps."""
FIELD_OF = {
    "SEED": "seed",
    "NUM_FEATURES": "synthetic_features",
    "NOISE": "synthetic_noise",
    "DATA_DIR": "data_dir",
    "EPOCHS": "epochs",
    "CLIP_NORM": "clip_norm",
    "DATA_FILES": "data_files",
    "RUN_EAGERLY": "eager",
    "EVALUATOR": "evaluator",
    "GPU_MEMORY": "gpu_memory",
    "TPU": "tpu",
}
"""Constants whose value is the value of a field."""
PLANNED = {*FIELD_OF, "NUM_TRAIN_EXAMPLES", "NUM_TEST_EXAMPLES", "LEARNING_RATE"}
"""Constants that a plan sets, and that data, model or optimizer read."""
MOST = {
    "REPLICAS": 4096,
    "WORKERS": 4096,
    "PER_REPLICA_BATCH_SIZE": 10**6,
    "GLOBAL_BATCH_SIZE": 10**6,
}
"""Largest values that are read. A larger value is reported as a value that no field holds."""
_FLOATS = {"NOISE", "CLIP_NORM"}


class UnreadError(Exception):
    """A constant that is missing, or that has no plain value."""


def constant(parts: Parts, name: str) -> Any:
    """Return a constant's value.

    Raises:
        UnreadError: the constant is missing, or has no plain value.
    """
    statement = parts.assignment(name)
    if statement is None:
        raise UnreadError(name)
    try:
        return ast.literal_eval(expression(parts, name))
    except (ValueError, SyntaxError, TypeError) as error:
        raise UnreadError(name) from error


def number(parts: Parts, name: str) -> int | None:
    """Return the whole number of a constant; None if it has none, or one above its limit."""
    try:
        value = constant(parts, name)
    except UnreadError:
        return None
    return value if type(value) is int and value <= MOST.get(name, 2**63) else None


def expression(parts: Parts, name: str) -> str:
    """Return the code of a constant's value; empty if there is none."""
    statement = parts.assignment(name)
    value = getattr(statement.node, "value", None) if statement else None
    return ast.unparse(value) if value is not None else ""


def titled(parts: Parts) -> dict[str, str]:
    """Return the rows of the catalogue that the title names, by field.

    Fields that the title does not name are missing.
    """
    match = _TITLE.fullmatch(parts.title.strip())
    if match is None:
        return {}
    model, data, strategy, _, loop = match.groups()
    tables: tuple[tuple[str, Any, str], ...] = (
        ("model", catalog.MODELS, model),
        ("data", catalog.DATA, data),
        ("strategy", catalog.STRATEGIES, strategy),
        ("loop", catalog.LOOPS, loop),
    )
    keys = {field: _key(table, label) for field, table, label in tables}
    return {field: key for field, key in keys.items() if key}


def replicas(parts: Parts) -> int:
    """Return the number of replicas that step together.

    It comes from the script's constants, else from its title, else from its two batch sizes.
    """
    match = _TITLE.fullmatch(parts.title.strip())
    who = _WHO.fullmatch(match[4]) if match else None
    in_title = int(who[1]) * int(who[2] or 1) if who else None
    try:
        devices = len(constant(parts, "DEVICES"))
    except (UnreadError, TypeError):
        devices = 0
    stated = number(parts, "REPLICAS") or devices or in_title
    each, in_all = number(parts, "PER_REPLICA_BATCH_SIZE"), number(parts, "GLOBAL_BATCH_SIZE")
    return stated or (in_all // each if each and in_all else 1)


def plain_fields(parts: Parts) -> dict[str, Any]:
    """Return the fields whose values the constants give without the title."""
    fields: dict[str, Any] = {}
    for name, field in FIELD_OF.items():
        try:
            value = constant(parts, name)
        except UnreadError:
            continue
        fields[field] = float(value) if name in _FLOATS and type(value) is int else value
    fields.update(_looked_up(parts), **_batches(parts))
    if (DEFINITION, COMPILED) in parts.by_key:
        fields["xla"] = True
    return fields


def stale_size(parts: Parts) -> str:
    """Return the batch size that the comment, such as `64 x 2 replicas`, does not explain."""
    each, in_all = number(parts, "PER_REPLICA_BATCH_SIZE"), number(parts, "GLOBAL_BATCH_SIZE")
    line = parts.assignment("GLOBAL_BATCH_SIZE")
    comment = re.search(r"# (\d+) x (\d+) replica", line.text if line else "")
    if comment is None or each is None or in_all is None:
        return ""
    was, by = int(comment[1]), int(comment[2])
    if each == was and in_all != was * by:
        return "GLOBAL_BATCH_SIZE"
    return "PER_REPLICA_BATCH_SIZE" if each != was else ""


def _batches(parts: Parts) -> dict[str, int]:
    each, in_all = number(parts, "PER_REPLICA_BATCH_SIZE"), number(parts, "GLOBAL_BATCH_SIZE")
    if in_all is not None and (each is None or stale_size(parts) == "GLOBAL_BATCH_SIZE"):
        return {"global_batch_size": in_all}
    return {} if each is None else {"per_replica_batch_size": each}


def _looked_up(parts: Parts) -> dict[str, Any]:
    """Return the fields whose constants are names of TensorFlow."""
    fields: dict[str, Any] = {}
    operations = expression(parts, "CROSS_DEVICE_OPS")
    for key, row in catalog.CROSS_DEVICE_OPS.items():
        if operations == row.expression:
            fields["cross_device_ops"] = key
    if policy := expression(parts, "AUTO_SHARD"):
        fields["auto_shard"] = policy.rpartition(".")[2].lower()
    if how := expression(parts, "COMMUNICATION"):
        kind = re.search(r"CommunicationImplementation\.(\w+)", how)
        pack = re.search(r"bytes_per_pack=(\d+)", how)
        fields["communication"] = kind[1].lower() if kind else "auto"
        fields["bytes_per_pack"] = int(pack[1]) if pack else 0
    return {**fields, **_settings(parts)}


def _settings(parts: Parts) -> dict[str, Any]:
    """Return the fields that calls between the constants set: precision and determinism."""
    code = " ".join(each.code for each in parts.body if each.kind == OTHER)
    deterministic = {"deterministic": True} if "enable_op_determinism()" in code else {}
    return {**deterministic, **_precision(code)}


def _precision(code: str) -> dict[str, str]:
    match = re.search(r"(?:set_floatx|set_global_policy)\('(\w+)'\)", code)
    return {"precision": match[1]} if match and match[1] in catalog.PRECISIONS else {}


def _key(table: Any, label: str) -> str:
    return next((key for key, row in table.items() if row.label == label), "")
