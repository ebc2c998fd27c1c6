"""Flags that make a config: one for each field of `RunConfig`, named and typed like it."""

from __future__ import annotations

import argparse
import dataclasses
import json
import typing
from pathlib import Path
from typing import Any

from .. import catalog
from ..config import ConfigError, RunConfig

TABLES = {
    "strategy": catalog.STRATEGIES,
    "loop": catalog.LOOPS,
    "data": catalog.DATA,
    "model": catalog.MODELS,
    "cross_device_ops": catalog.CROSS_DEVICE_OPS,
    "last_batch": catalog.LAST_BATCH,
    "pipeline": catalog.PIPELINES,
    "optimizer": catalog.OPTIMIZERS,
    "learning_rate_scaling": catalog.LEARNING_RATE_SCALINGS,
}


def add_config_flags(parser: argparse.ArgumentParser) -> None:
    """Add `--config`, `--preset` and a flag for every field."""
    parser.add_argument("--config", metavar="FILE", help="a JSON file with a config's fields")
    presets = ", ".join(catalog.PRESETS)
    parser.add_argument("--preset", metavar="P", help=f"a whole lesson to start from: {presets}")
    hints = typing.get_type_hints(RunConfig)
    for field in dataclasses.fields(RunConfig):
        flag = "--" + field.name.replace("_", "-")
        words = catalog.FIELD_HELP[field.name]
        if field.name in TABLES:
            words = f"{words} One of: {', '.join(TABLES[field.name])}."
        if hints[field.name] is bool:
            parser.add_argument(flag, action="store_const", const=True, help=words)
        else:
            metavar = field.name.split("_")[-1].upper()
            parser.add_argument(flag, type=_reader(hints[field.name]), metavar=metavar, help=words)


def config_from(arguments: argparse.Namespace) -> RunConfig:
    """Return the config that file, preset and flags make, later ones over earlier ones.

    Raises:
        ConfigError: the file cannot be read, or names what there is not.
    """
    values: dict[str, Any] = {}
    if arguments.preset is not None:
        values.update(_preset(arguments.preset).to_json())
    if arguments.config is not None:
        values.update(_read_file(Path(arguments.config)))
    names = [field.name for field in dataclasses.fields(RunConfig)]
    given = {name: getattr(arguments, name) for name in names}
    given = {name: value for name, value in given.items() if value is not None}
    sizes = {"per_replica_batch_size", "global_batch_size"}
    if len(sizes & given.keys()) == 1:
        values = {name: value for name, value in values.items() if name not in sizes}
    if "data" in given and "model" not in given and values.get("data") != given["data"]:
        values.pop("model", None)
    return RunConfig.from_json({**values, **given})


def _preset(name: str) -> RunConfig:
    if name not in catalog.PRESETS:
        known = ", ".join(catalog.PRESETS)
        raise ConfigError(f"A preset is one of {known}; received {name!r}. Choose one of them.")
    return catalog.PRESETS[name].config


def _read_file(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"--config takes a JSON file; received {path}: {error}. Mend the path or the file."
        ) from error
    return RunConfig.from_json(values).to_json()


def _reader(hint: Any) -> Any:
    options = [option for option in typing.get_args(hint) if option is not type(None)] or [hint]
    if hint == tuple[str, ...] or tuple[str, ...] in options:
        return _names
    if int in options:
        return _integer_or_word if len(options) > 1 else int
    return float if float in options else str


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip().upper() for name in text.split(",") if name.strip())


def _integer_or_word(text: str) -> int | str:
    return int(text) if text.lstrip("-").isdigit() else text
