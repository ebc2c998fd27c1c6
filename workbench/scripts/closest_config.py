"""The search for a script's config: the config whose own script is most like the script."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from .. import catalog
from .parts import IMPORT, Parts
from .reference import Own, Reference, machine, refer
from .values import UnreadError, constant, number, plain_fields, replicas, titled

_SAME_CODE, _SAME_TEXT, _DROPPED = 3, 1, 5


def closest_config(parts: Parts, own: Own) -> tuple[dict[str, Any], Reference | None]:
    """Return the fields that the script shows, and the script that the workbench writes for them.

    If two configs give the same text, the config that leaves more to the plan is chosen.
    """
    fields = {**plain_fields(parts), **titled(parts)}
    fields = {name: value for name, value in fields.items() if name not in own.functions}
    fields, found = _best(fields, _rows(parts, own, fields), parts, own)
    fields, found = _best(fields, _orders(), parts, own)
    for options in (
        _optimizers(own),
        _learning_rates(parts),
        _steps(parts, "STEPS_PER_EPOCH", "steps_per_epoch"),
        _steps(parts, "STEPS_PER_CALL", "steps_per_call"),
        [{"steps_per_call": "epoch"}] if number(parts, "STEPS_PER_CALL") else [],
    ):
        if found is not None and found.text == parts.text:
            break
        fields, found = _best(fields, [{}, *options], parts, own)
    return fields, found


def likeness(script: Parts, made: Reference) -> int:
    """Return a score: how much of the workbench's script for a config stands in the script."""
    alike = -_DROPPED * len(made.dropped)
    for statement in made.parts.body:
        there = script.by_key.get(statement.key)
        if there is None:
            alike -= 1
        elif there.means(statement):
            alike += _SAME_CODE + _SAME_TEXT * (there.text == statement.text)
    known = made.parts.by_key
    return alike - sum(each.key not in known and each.kind != IMPORT for each in script.body)


def _best(
    fields: dict[str, Any], options: Iterable[Mapping[str, Any]], parts: Parts, own: Own
) -> tuple[dict[str, Any], Reference | None]:
    """Return the fields with the option whose script is most like this script.

    If several options are equally good, the first option is chosen.
    """
    unlike: list[tuple[dict[str, Any], Reference]] = []
    for option in options:
        asked = {**fields, **option}
        asked |= _placed(parts, asked)
        made = refer(asked, own, machine(parts, asked.get("strategy", "")))
        if made is None:
            continue
        if made.text == parts.text:
            return asked, made
        unlike.append((asked, made))
    if not unlike:
        return fields, None
    return max(unlike, key=lambda each: likeness(parts, each[1]))


def _rows(parts: Parts, own: Own, fields: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    """Return the choices of strategy, loop, data and model that the title leaves open."""
    open_fields = {
        "strategy": list(catalog.STRATEGIES),
        "loop": list(catalog.LOOPS),
        "data": list(catalog.DATA),
        "model": list(catalog.MODELS),
    }
    options: list[dict[str, Any]] = [{}]
    for name, keys in open_fields.items():
        if name not in fields and name not in own.functions:
            options = [{**option, name: key} for option in options for key in keys]
    return options


def _orders() -> Iterable[dict[str, Any]]:
    return [
        {"pipeline": pipeline, "last_batch": last_batch}
        for pipeline in catalog.PIPELINES
        for last_batch in catalog.LAST_BATCH
    ]


def _optimizers(own: Own) -> list[dict[str, Any]]:
    named = [key for key in catalog.OPTIMIZERS if key != catalog.COMPILED]
    return [{"optimizer": key} for key in (named if "model" in own.functions else named[1:])]


def _learning_rates(parts: Parts) -> list[dict[str, Any]]:
    """Return the rate as written, and the rate before scaling if the comment shows it."""
    try:
        rate = constant(parts, "LEARNING_RATE")
    except UnreadError:
        return []
    if type(rate) not in (int, float):
        return []
    options: list[dict[str, Any]] = [{"learning_rate": float(rate)}]
    statement = parts.assignment("LEARNING_RATE")
    base = re.search(r"# ([\d.e+-]+) x ", statement.text if statement else "")
    if base:
        scaled = {"learning_rate": float(base[1])}
        scalings = ("linear", "square_root")
        options += [{**scaled, "learning_rate_scaling": name} for name in scalings]
    return options


def _steps(parts: Parts, name: str, field: str) -> list[dict[str, Any]]:
    steps = number(parts, name)
    return [] if steps is None else [{field: steps}]


def _placed(parts: Parts, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return replicas, workers and devices in the strategy's fields, and synthetic examples."""
    row = catalog.STRATEGIES.get(asked.get("strategy", ""))
    if row is None:
        return {}
    fields: dict[str, Any] = {}
    if asked.get("data") == "synthetic" and (examples := number(parts, "NUM_TRAIN_EXAMPLES")):
        fields["synthetic_examples"] = examples
    try:
        fields["devices"] = tuple(constant(parts, "DEVICES"))
    except (UnreadError, TypeError):
        fields["devices"] = None if row.tpu else ("CPU:0",)
    if row.mirrors or (row.tpu and asked.get("tpu", "local") != "local"):
        fields["replicas"] = replicas(parts)
    if row.workers:
        fields["workers"] = number(parts, "WORKERS")
    if not row.synchronous:
        fields["parameter_servers"] = _servers(parts)
    return fields


def _servers(parts: Parts) -> int | None:
    tasks = parts.assignment("TASKS")
    match = re.search(r"'ps': (\d+)", tasks.code if tasks else "")
    return int(match[1]) if match and len(match[1]) <= 3 else None
