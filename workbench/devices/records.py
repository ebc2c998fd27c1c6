"""The records that detection returns, JSON both ways."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any


class DeviceError(RuntimeError):
    """Devices that cannot be asked for: the rule, what was found, the change that mends it."""

    def __init__(self, rule: str, got: str, fix: str) -> None:
        """Keep the three parts apart for a form, and join them for a person."""
        super().__init__(f"{rule}; received {got}. {fix}")
        self.rule = rule
        self.got = got
        self.fix = fix


@dataclass(frozen=True)
class Gpu:
    """One GPU as the run's TensorFlow numbers it; None is unknown."""

    name: str
    """The name a config uses, such as `GPU:0`."""
    model: str | None
    memory_bytes: int | None
    compute_capability: str | None
    """Such as `8.0`; None also where there is no such thing (not CUDA)."""


@dataclass(frozen=True)
class Devices:
    """What one interpreter can train on, on this machine; None is unknown."""

    cpu_model: str | None
    cpu_cores: int
    """Logical cores this process may use: CPU affinity and the container's quota count."""
    memory_bytes: int
    """RAM, or the container's limit where that is lower."""
    gpus: tuple[Gpu, ...]
    """What the run's TensorFlow can use; in the quick look, what the driver shows to it."""
    tpu_chips: int
    tpu_kind: str | None
    """The generation, such as `v5e`."""
    interpreter: str
    python_version: str
    tensorflow_version: str | None
    keras_version: str | None
    tf_keras_version: str | None
    problems: tuple[str, ...]
    """A sentence each: why something that is here cannot be used, and what changes that."""
    # What devices of earlier runs lack has a default.
    tensorflow_for_tpus: bool | None = None
    """Whether TensorFlow there was built with support for TPUs."""

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values, the fields' own names."""
        values = dataclasses.asdict(self)
        return {**values, "gpus": list(values["gpus"]), "problems": list(values["problems"])}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Devices:
        """Read what `to_json` wrote.

        Raises:
            DeviceError: a field is missing or unknown.
        """
        _same_fields(cls, values)
        for gpu in values["gpus"]:
            _same_fields(Gpu, gpu)
        gpus = tuple(Gpu(**gpu) for gpu in values["gpus"])
        return cls(**{**values, "gpus": gpus, "problems": tuple(values["problems"])})


def _same_fields(record: type[Devices | Gpu], values: dict[str, Any]) -> None:
    fields = dataclasses.fields(record)
    expected = {field.name for field in fields}
    added = {field.name for field in fields if field.default is not dataclasses.MISSING}
    odd = sorted(expected.symmetric_difference(values) - (added - values.keys()))
    if odd:
        raise DeviceError(
            f"{record.__name__} in JSON has exactly the fields {', '.join(sorted(expected))}",
            f"missing or unknown: {', '.join(odd)}",
            "Detect the devices again with this release.",
        )
