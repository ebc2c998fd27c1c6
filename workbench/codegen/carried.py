"""The config that a script carries in the comment at its end, by which it opens again."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import textwrap
from collections.abc import Mapping
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from .. import catalog
from ..config import USUAL
from ..plan.launching import for_anywhere

if TYPE_CHECKING:
    from ..plan import Plan

BEGIN, GO_ON = "# config: ", "#     "
"""The beginnings of the first line of the comment, and of its other lines."""
LINE_LENGTH = 100
SHA256_DIGITS = 16


def config_comment(plan: Plan, text: str) -> str:
    """Return the comment of JSON at a script's end: the config and what it was planned for.

    `text` is the script without the comment; its hash shows later whether it was edited.
    """
    values: dict[str, Any] = {"sha256": digest(text), "config": _config(plan)}
    own = plan.own_functions.items()
    if inside := {field: each.function for field, each in own if not each.module}:
        values["own"] = inside
    if plan.data_facts is not None:
        values["data"] = dataclasses.asdict(plan.data_facts)
    if plan.on_tpu:
        values["tpu_chips"] = plan.num_replicas_in_sync
    return textwrap.fill(
        _without_spaces_in_texts(values), LINE_LENGTH,
        initial_indent=BEGIN, subsequent_indent=GO_ON,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def _without_spaces_in_texts(values: Mapping[str, Any]) -> str:
    """Return JSON whose lines can be broken at every space."""
    marked = json.dumps(values, separators=(",\0", ":\0"))
    return marked.replace(" ", r"\u0020").replace("\0", " ")


def split_config(script: str) -> tuple[str, str]:
    """Return a script without the comment that carries its config, and the JSON of the comment.

    The JSON is empty if there is no such comment.
    """
    before, found, rest = f"\n{script}".rpartition(f"\n{BEGIN}")
    if not found:
        return script, ""
    first, *lines = rest.split("\n")
    more = list(takewhile(lambda line: line.startswith(GO_ON), lines))
    carried = " ".join([first, *(line.removeprefix(GO_ON) for line in more)])
    after = lines[len(more) :]
    return "\n".join([before.removeprefix("\n"), *after]), carried


def is_as_made(script: str) -> bool:
    """Return whether a text is a script of the workbench without a single changed letter."""
    text, line = split_config(script)
    return bool(line) and f'{{"sha256": "{digest(text)}"' in line


def digest(text: str) -> str:
    """Return the first digits of a text's sha256; blank lines at its end do not count."""
    return hashlib.sha256(text.rstrip().encode()).hexdigest()[:SHA256_DIGITS]


def _config(plan: Plan) -> dict[str, Any]:
    """Return the fields that differ from the defaults, with the place that was found for them.

    A function in the script itself has no address, and a file's address is its name. The folder of
    files and a folder that the script does not read stay out, because their names say something
    about the machine.
    """
    fields = for_anywhere(dataclasses.replace(plan.config, **_placement(plan))).to_json()
    usual = USUAL.to_json()
    own = plan.own_functions
    inside = {field for field, each in own.items() if not each.module}
    fields |= {
        field: f"{each.module}.py:{each.function}" for field, each in own.items() if each.folder
    }
    left_out = inside | {"name"} | (set() if reads_folder(plan) else {"data_dir"})
    differing = {name: value for name, value in fields.items() if value != usual[name]}
    return {name: value for name, value in differing.items() if name not in left_out}


def reads_folder(plan: Plan) -> bool:
    """Return whether the script reads the data's files from the folder that the config names."""
    row = catalog.DATA.get(plan.data)
    return row is not None and bool(row.files) and plan.config.data_dir is not None


def _placement(plan: Plan) -> dict[str, Any]:
    """Return the fields that decide where a plan trains."""
    row, config = catalog.STRATEGIES[plan.strategy], plan.config
    fields: dict[str, Any] = {"devices": None if row.tpu else plan.physical_devices}
    if row.mirrors or (row.tpu and config.tpu != USUAL.tpu):
        fields["replicas"] = plan.num_replicas_in_sync
    if row.workers:
        fields["workers"] = plan.workers
    if not plan.synchronous:
        fields["parameter_servers"] = sum(task.startswith("ps-") for task in plan.tasks)
    return fields
