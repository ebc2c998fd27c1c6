"""Flags that make a config: one for each field of `RunConfig`, with its name and type."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from workbench.runs.folder.files import expanded

from .. import catalog
from ..config import (
    USUAL,
    ConfigError,
    Problem,
    RunConfig,
    did_you_mean,
    field_types,
    fields_in,
)
from ..fields import BATCH_SIZES, FIELDS, SECTIONS


def add_config_flags(parser: argparse.ArgumentParser, several: Collection[str] = ()) -> None:
    """Add `--config`, `--preset` and one flag per field. Fields in `several` take many values."""
    presets = ", ".join(catalog.PRESETS)
    parser.add_argument("--preset", help=f"A preset to start from: {presets}.")
    text = "A JSON file with fields of a config, or a bundle.zip from `workbench bundle`. Its "
    text += "fields override the preset; flags override both."
    parser.add_argument("--config", metavar="FILE", help=text)
    for title, section in SECTIONS.items():
        group = parser.add_argument_group(title, section.__doc__)
        for field in dataclasses.fields(section):
            _add_flag(group, field.name, takes_several=field.name in several)


def _add_flag(group: argparse._ArgumentGroup, name: str, *, takes_several: bool) -> None:
    """Add the flag of a field, whose help says what it means, its choices and its default."""
    flag, text = "--" + name.replace("_", "-"), FIELDS[name].help
    kinds, default = field_types()[name], getattr(USUAL, name)
    if name in catalog.CHOICES:
        text = f"{text} One of: {', '.join(catalog.CHOICES[name])}."
    if default not in (None, "", False):
        text = f"{text} Default: {default}."
    if takes_several:
        text = f"{text} Several values are compared."
        stands_for = "on|off" if bool in kinds else _stands_for(name)
        group.add_argument(flag, type=_reader(kinds), metavar=stands_for, nargs="+", help=text)
    elif bool in kinds:
        group.add_argument(flag, action=argparse.BooleanOptionalAction, help=text)
    else:
        group.add_argument(flag, type=_reader(kinds), metavar=_stands_for(name), help=text)


def sentence(text: str) -> str:
    """Return a help text as a sentence for a description."""
    return f"{text[0].upper()}{text[1:]}."


def add_runs_dir(parser: argparse.ArgumentParser) -> None:
    """Add `--runs-dir`."""
    text = "The folder of runs. Default: $WORKBENCH_RUNS, else runs."
    parser.add_argument("--runs-dir", metavar="DIR", help=text)


def refuse_beside_earlier(
    arguments: argparse.Namespace, place: str, earlier: object, training: Collection[str]
) -> None:
    """Refuse flags of runs to train beside earlier ones, and --resume without earlier ones.

    Args:
        arguments: all that were given.
        place: the name of the argument for earlier ones in the help.
        earlier: what was given there.
        training: the names of flags of runs to train.

    Raises:
        ConfigError: such a flag is given.
    """
    if earlier and (given := [name for name in training if getattr(arguments, name) is not None]):
        rule = "given without flags of runs to train"
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        fix = f"Leave these flags out, or leave {place} out to train."
        raise ConfigError([Problem(place, rule, flags, fix)])
    if arguments.resume and not earlier:
        rule, fix = "given with the folder to continue", "Put the folder before it: FOLDER --resume"
        raise ConfigError([Problem("--resume", rule, "no folder", fix)])


def config_from(arguments: argparse.Namespace, opened: RunConfig | None = None) -> RunConfig:
    """Return the config made of preset, file and flags, in this order; later ones overrule.

    `opened`, the config of an opened script, comes before all of them.

    Raises:
        ConfigError: the file cannot be read, or it names a preset or field that does not exist.
    """
    layers = (
        {} if opened is None else dataclasses.asdict(opened),
        {} if arguments.preset is None else _preset(arguments.preset),
        {} if arguments.config is None else _read_file(expanded(arguments.config)),
        given_flags(arguments),
    )
    values: dict[str, Any] = {}
    for layer in layers:
        values = {**_without_overruled(values, layer), **layer}
    return RunConfig(**values)


def given_flags(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the fields given by flags, without flags of several values: no config has them."""
    flags = {name: getattr(arguments, name) for name in field_types()}
    return {
        name: value
        for name, value in flags.items()
        if value is not None and not isinstance(value, list)
    }


def _without_overruled(values: dict[str, Any], layer: dict[str, Any]) -> dict[str, Any]:
    """Return the values without batch sizes and a model that the layer overrules."""
    dropped = set(BATCH_SIZES if layer.keys() & BATCH_SIZES else ())
    model = catalog.MODELS.get(values.get("model") or "")
    if model is not None and layer.get("data", values.get("data")) not in model.data:
        dropped = dropped | {"model"}
    return {name: value for name, value in values.items() if name not in dropped}


def _preset(name: str) -> dict[str, Any]:
    if name not in catalog.PRESETS:
        known = ", ".join(catalog.PRESETS)
        fix = did_you_mean(name, catalog.PRESETS, "Choose one of them.")
        raise ConfigError([Problem("preset", f"one of {known}", name, fix)])
    return dataclasses.asdict(catalog.PRESETS[name].config)


def is_bundle(arguments: argparse.Namespace) -> bool:
    """Return whether `--config` names a replay bundle."""
    return arguments.config is not None and arguments.config.endswith(".zip")


def _read_file(path: Path) -> dict[str, Any]:
    if path.suffix == ".zip":
        from ..bundle import read_bundle

        return dataclasses.asdict(read_bundle(path).config)
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        fix = f"Fix the path or the file: {error}."
        raise ConfigError([Problem("config", "a JSON file", str(path), fix)]) from error
    return fields_in(values)


def _stands_for(name: str) -> str:
    kinds = field_types()[name]
    if name == "gpu_memory" or str in kinds:
        return name.rsplit("_", maxsplit=1)[-1].upper()
    return "N" if int in kinds else "X" if float in kinds else "NAMES"


def _reader(kinds: tuple[Any, ...]) -> Any:
    if tuple[str, ...] in kinds:
        return names
    if bool in kinds:
        return on_or_off
    if int in kinds:
        return whole_number
    return number if float in kinds else str


def names(text: str) -> tuple[str, ...]:
    """Read names separated by commas; return them in upper case."""
    return tuple(name.strip().upper() for name in text.split(",") if name.strip())


def whole_number(text: str) -> int | str:
    """Read an integer. Other text is returned unchanged: the config then reports the problem."""
    try:
        return int(text)
    except ValueError:
        return text


def on_or_off(text: str) -> bool | str:
    """Read on or off. Other text is returned unchanged."""
    return {"on": True, "off": False}.get(text.lower(), text)


def number(text: str) -> float | str:
    """Read a number. Other text is returned unchanged."""
    try:
        return float(text)
    except ValueError:
        return text
