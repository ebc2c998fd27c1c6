"""Reading of the config and the plan with which a run was started."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.config import ConfigError, RunConfig
from workbench.plan import Plan
from workbench.plan.own_data import DataFacts
from workbench.plan.own_function import OwnFunction

from .files import RunError, read_json
from .tasks import tasks_of

_FIELDS = {field.name: field for field in dataclasses.fields(Plan)}
_RECORDS: dict[str, Any] = {
    "own_model": OwnFunction,
    "own_data": OwnFunction,
    "own_step": OwnFunction,
    "data_facts": DataFacts,
}


def read_config(path: Path) -> RunConfig:
    """Read a config.json.

    Raises:
        RunError: the file is damaged, or was written by a release with other config fields.
    """
    return _config(read_json(path), path)


def read_plan(path: Path) -> Plan:
    """Read a plan.json.

    Raises:
        RunError: the file is damaged, or was written by a release with other plan fields, or a task
            has a name that is not one.
    """
    values = read_json(path)
    require_fields(values, path)
    tasks_of(values)
    fields: dict[str, Any] = {n: _plain(value) for n, value in values.items() if n in _FIELDS}
    fields["config"] = _config(values["config"], path)
    for name, kind in _RECORDS.items():
        if values.get(name) is not None:
            try:
                fields[name] = kind(**values[name])
            except TypeError as error:
                raise _of_another_release(path, error) from error
    return Plan(**fields)


def require_fields(values: Mapping[str, Any], path: Path) -> None:
    """Check that the values of a plan.json have every required field of a plan.

    Raises:
        RunError: a required field is missing.
    """
    needed = [name for name, field in _FIELDS.items() if field.default is dataclasses.MISSING]
    absent = [name for name in needed if name not in values]
    if absent:
        raise RunError(
            f"{path} lacks fields of a plan: {', '.join(absent)}. "
            "Open the run with the release that wrote it."
        )


def _config(values: Any, path: Path) -> RunConfig:
    try:
        return RunConfig.from_json(values)
    except (ConfigError, TypeError) as error:
        raise _of_another_release(path, error) from error


def _of_another_release(path: Path, error: Exception) -> RunError:
    return RunError(
        f"{path} does not fit this release: {str(error).rstrip('.')}. "
        "Open the run with the release that wrote it."
    )


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
