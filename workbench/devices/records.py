"""The records that detection returns, with conversion to JSON and back."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any


class DeviceError(RuntimeError):
    """An error of device detection: the rule, the value received, and the fix."""

    def __init__(self, rule: str, got: str, fix: str) -> None:
        """Keep the three parts apart for a form, and join them for a person."""
        super().__init__(f"{rule}; got {got}. {fix}")
        self.rule = rule
        self.got = got
        self.fix = fix


@dataclass(frozen=True)
class Gpu:
    """One GPU with the number that the run's TensorFlow gives it; None is unknown."""

    name: str
    """The name in a config, such as `GPU:0`."""
    model: str | None
    memory_bytes: int | None
    compute_capability: str | None
    """Such as `8.0`; None also for a GPU without CUDA, which has none."""


@dataclass(frozen=True)
class Devices:
    """The devices of this machine that one interpreter can train on; None is unknown."""

    cpu_model: str | None
    cpu_cores: int
    """Logical cores that this process may use, by CPU affinity and the container's quota."""
    memory_bytes: int | None
    """RAM, or the container's limit if it is lower."""
    gpus: tuple[Gpu, ...]
    """The GPUs that the run's TensorFlow can use.

    If TensorFlow was not imported (in the quick check, or with a TPU), these are the GPUs that the
    driver shows to the run.
    """
    tpu_chips: int
    tpu_kind: str | None
    """The generation, such as `v5e`."""
    interpreter: str
    python_version: str
    tensorflow_version: str | None
    keras_version: str | None
    tf_keras_version: str | None
    problems: tuple[str, ...]
    """A sentence for each present device that cannot be used: the reason and the fix."""
    # Devices of earlier runs lack the fields below, so these have defaults.
    tensorflow_for_tpus: bool | None = None
    """Whether the interpreter's TensorFlow was built with support for TPUs."""

    def keras(self, *, legacy: bool) -> tuple[str, str | None]:
        """Return the package of Keras 3, or of Keras 2 if `legacy`, and its version here."""
        return ("tf-keras", self.tf_keras_version) if legacy else ("keras", self.keras_version)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values under the names of the fields."""
        values = dataclasses.asdict(self)
        return {**values, "gpus": list(values["gpus"]), "problems": list(values["problems"])}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Devices:
        """Return the record of values that `to_json` wrote.

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
            f"{record.__name__} in JSON must have exactly the fields {', '.join(sorted(expected))}",
            f"missing or unknown: {', '.join(odd)}",
            "Detect the devices again with this release.",
        )
