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

FIELD_OF = {
    "SEED": "seed",
    "NUM_FEATURES": "synthetic_features",
    "NUM_TRAIN_EXAMPLES": "synthetic_examples",
    "NOISE": "synthetic_noise",
    "DATA_DIR": "data_dir",
    "DEVICES": "devices",
    "REPLICAS": "replicas",
    "WORKERS": "workers",
    "GLOBAL_BATCH_SIZE": "global_batch_size",
    "PER_REPLICA_BATCH_SIZE": "per_replica_batch_size",
    "EPOCHS": "epochs",
    "STEPS_PER_EPOCH": "steps_per_epoch",
    "STEPS_PER_EXECUTION": "steps_per_call",
    "OPTIMIZER": "optimizer",
    "LEARNING_RATE": "learning_rate",
    "CLIP_NORM": "clip_norm",
    "DATA_FILES": "data_files",
    "EVALUATOR": "evaluator",
    "GPU_MEMORY": "gpu_memory",
    "TPU": "tpu",
    "CROSS_DEVICE_OPS": "cross_device_ops",
    "AUTO_SHARD": "auto_shard",
}
"""Constants, each with the field that decides it, in the order in which they count."""
OVERRULED: dict[str, dict[str, Any]] = {
    "GLOBAL_BATCH_SIZE": {"per_replica_batch_size": None},
    "PER_REPLICA_BATCH_SIZE": {"global_batch_size": None},
    "LEARNING_RATE": {"learning_rate_scaling": "none"},
}
"""Fields that a changed constant overrules."""
EXPRESSIONS: dict[str, Mapping[str, Any]] = {
    "CROSS_DEVICE_OPS": catalog.CROSS_DEVICE_OPS,
    "OPTIMIZER": catalog.OPTIMIZERS,
}
"""Constants that are code, each with the table of that code."""
_FLOATS = ("NOISE", "CLIP_NORM", "LEARNING_RATE")


def with_changes(config: RunConfig, before: ast.Module, now: ast.Module) -> RunConfig:
    """Return the config with the values of the constants that differ between two scripts.

    A constant without a value for its field, such as a text in place of a number, stays out.
    """
    old, new = constants(before), constants(now)
    for name, field in FIELD_OF.items():
        changed = name in old and new.get(name, old[name]) != old[name]
        if not changed or not _decides(config, field):
            continue
        with contextlib.suppress(ConfigError, LookupError, ValueError, SyntaxError, TypeError):
            fields = {**OVERRULED.get(name, {}), field: _value(name, new[name])}
            config = replace(config, **fields)
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


def _value(name: str, code: str) -> Any:
    if name in EXPRESSIONS:
        return {row.expression: key for key, row in EXPRESSIONS[name].items()}[code]
    if name == "AUTO_SHARD":
        return code.rpartition(".")[2].lower()
    value = ast.literal_eval(code)
    return float(value) if name in _FLOATS and type(value) is int else value


def _communication(code: str) -> dict[str, Any]:
    kind = re.search(r"CommunicationImplementation\.(\w+)", code)
    if kind is None:
        return {}
    pack = re.search(r"bytes_per_pack=(\d+)", code)
    return {"communication": kind[1].lower(), "bytes_per_pack": int(pack[1]) if pack else 0}
