"""The opening of a script by the config in the comment at its end; nothing is executed."""

from __future__ import annotations

import ast
import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..codegen import render_script
from ..codegen.carried import BEGIN, digest, split_config
from ..config import ConfigError, RunConfig, fields_in
from ..devices import Devices, Gpu
from ..plan import Plan, make_plan
from ..plan.names import parse
from ..plan.own_function import SCRIPT_NAMES
from ..plan.plan import DataFacts, OwnFunction
from .changed_constants import with_changes
from .difference import unified
from .own_code import Kept, ScriptError, keep_own

_INSIDE = "script"
"""In an address, it stands for the script itself."""
_PLACES = ("devices", "replicas", "workers", "parameter_servers")
_UNKNOWN = "unknown"


@dataclass(frozen=True)
class Opened:
    """A script and what was found in it; the script itself stays as it is."""

    text: str
    config: RunConfig
    """The config with the changed constants. The address of a kept function names no file here."""
    kept: tuple[Kept, ...]
    """The user's functions whose code is in the script."""
    as_made: bool
    """Whether the text is exactly as the workbench wrote it."""
    plan: Plan
    """The plan of the config; of the unedited config if no plan can have the changed constants."""
    facts: DataFacts | None
    """The facts about the user's own data, if the script has such data."""
    machine: Devices
    """The devices for which the script was made, as far as it names them."""

    @property
    def edits(self) -> str:
        """The edits that are no changed constants, as a unified difference; empty if none."""
        if self.as_made:
            return ""
        made = render_script(self.plan)
        return unified(made, self.text, "the script of these settings", "this script")

    def with_files(self, addresses: Mapping[str, str]) -> RunConfig:
        """Return the config with the addresses of the files of kept functions, by field."""
        return replace(self.config, **dict[str, Any](addresses))

    def for_machine(self, devices: Devices) -> Opened:
        """Return it without the places of training that this machine would choose by itself."""
        config = self.config
        for names in (_PLACES, *((name,) for name in _PLACES)):
            fewer = replace(config, **dict[str, Any](dict.fromkeys(names)))
            try:
                here = _planned(fewer, devices, self.facts, self.kept)
            except ConfigError:
                continue
            if render_script(here) == render_script(self.plan):
                config = fewer
        return replace(self, config=config)

    def plan_as_it_is(self, devices: Devices, addresses: Mapping[str, str], **also: Any) -> Plan:
        """Return the plan by which the script runs as it is.

        `also` holds fields that no script contains.

        Raises:
            PlanError: the script cannot run on these devices.
        """
        plan = make_plan(replace(self.plan.config, **also), devices, self.facts)
        config = replace(plan.config, **dict[str, Any](addresses))
        return _with_own(plan, config, self.kept)


def read_script(text: str, devices: Devices | None = None, folders: Sequence[Path] = ()) -> Opened:
    """Find the config of a script, and what was edited.

    Args:
        text: the script.
        devices: this machine; places that it would choose by itself are left to the plan.
        folders: where the user's own files that the script imports are looked for, before the
            working folder.

    Raises:
        ScriptError: the text is not Python, or carries no config that this release can read.
        PlanError: this release cannot plan the config.
    """
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    tree = _parsed(plain)
    script, comment = split_config(plain)
    carried = _carried(comment)
    carried = replace(carried, config=_with_files_of(folders, carried.config))
    kept = keep_own(script, tree, carried.own)
    opened = Opened(
        text,
        carried.config,
        kept,
        as_made=digest(script) == carried.sha256,
        plan=_planned(carried.config, carried.machine, carried.facts, kept),
        facts=carried.facts,
        machine=carried.machine,
    )
    if not opened.as_made:
        before = parse(render_script(opened.plan))
        config = with_changes(carried.config, before, tree)
        opened = replace(opened, config=config)
        with contextlib.suppress(ConfigError):  # the form, or the caller, says what is wrong
            plan = _planned(config, carried.machine, carried.facts, kept)
            opened = replace(opened, plan=plan)
    return opened if devices is None else opened.for_machine(devices)


@dataclass(frozen=True)
class _Carried:
    """What the comment at the end of a script says."""

    sha256: str
    config: RunConfig
    own: Mapping[str, str]
    """The names of the user's functions whose code is in the script, by field."""
    facts: DataFacts | None
    tpu_chips: int

    @property
    def machine(self) -> Devices:
        """The devices for which the script was made."""
        names = self.config.devices or ()
        gpus = tuple(Gpu(name, None, None, None) for name in names if name.startswith("GPU"))
        return Devices(
            cpu_model=None,
            cpu_cores=1,
            memory_bytes=None,
            gpus=gpus,
            tpu_chips=self.tpu_chips,
            tpu_kind=None,
            interpreter=_UNKNOWN,
            python_version=_UNKNOWN,
            tensorflow_version=_UNKNOWN,
            keras_version=_UNKNOWN,
            tf_keras_version=_UNKNOWN,
            problems=(),
        )


def _parsed(text: str) -> ast.Module:
    try:
        return parse(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        at = f"line {error.lineno}: {error.msg}" if isinstance(error, SyntaxError) else str(error)
        raise ScriptError("valid Python", at, "Fix that line, then open it again.") from error


def _carried(comment: str) -> _Carried:
    if not comment:
        rule = f"a script that carries its config in a comment {BEGIN}{{...}}"
        fix = "Open a saved train.py or the one of a run; give your own code as model or data."
        raise ScriptError(rule, "a text without such a comment", fix)
    try:
        values = json.loads(comment)
        own = {field: str(values["own"][field]) for field in values.get("own", ())}
        if not all(name.isidentifier() for name in own.values()):
            raise ValueError(f"no names of functions: {own}")
        return _Carried(
            sha256=values["sha256"],
            config=RunConfig(
                **fields_in(values["config"]),
                **dict[str, Any]({field: f"{_INSIDE}:{name}" for field, name in own.items()}),
            ),
            own=own,
            facts=DataFacts(**values["data"]) if "data" in values else None,
            tpu_chips=int(values.get("tpu_chips", 0)),
        )
    except (ConfigError, ValueError, TypeError, LookupError, AttributeError) as error:
        fix = "Restore the comment, or open the script with the release that wrote it."
        raise ScriptError("a script whose config this release can read", str(error), fix) from error


def _with_files_of(folders: Sequence[Path], config: RunConfig) -> RunConfig:
    """Return a config with the complete addresses of the user's files that are in these folders."""
    found = dict[str, str]()
    for field in SCRIPT_NAMES:
        where, _, function = (getattr(config, field) or "").rpartition(":")
        places = (folder / where for folder in folders)
        if where.endswith(".py") and (path := next(filter(Path.is_file, places), None)):
            found[field] = f"{path}:{function}"
    return replace(config, **dict[str, Any](found))


def _planned(
    config: RunConfig, devices: Devices, facts: DataFacts | None, kept: Sequence[Kept]
) -> Plan:
    """Return a plan to render: the folder of the data may be missing on this machine."""
    return _with_own(make_plan(replace(config, data_dir=None), devices, facts), config, kept)


def _with_own(plan: Plan, config: RunConfig, kept: Sequence[Kept]) -> Plan:
    """Return a plan with its functions from the script."""
    own = {f"own_{each.field}": OwnFunction(each.function, None, each.source) for each in kept}
    return replace(plan, config=config, **dict[str, Any](own))
