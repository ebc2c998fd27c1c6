"""What a person asks for: one frozen record, JSON both ways, no checks beyond types."""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from dataclasses import dataclass
from typing import Any, Literal

CONFIG_VERSION = 1

GpuMemory = Literal["all", "growth"] | int


@dataclass(frozen=True)
class RunConfig:
    """Everything a run is made from. `None` means: let the plan choose, and say what it chose.

    Names of fields are the names of the command line's flags and of the form's fields, so that a
    problem named after a field can be shown beside it.
    """

    name: str = ""
    """Free text shown in lists of runs; it never becomes code."""
    strategy: str = "mirrored"
    loop: str = "custom"
    data: str = "synthetic"
    model: str | None = None
    """A catalogue name, or one's own `module:function` or `file.py:function`.

    None: the model the data is usually trained with."""
    devices: tuple[str, ...] | None = None
    """Physical devices such as `("GPU:0", "GPU:2")`. None: every GPU, else the CPU."""
    replicas: int | None = None
    """Replicas in sync. None: one a device, or two virtual ones where Mirrored has one device."""
    cross_device_ops: str = "default"
    gpu_memory: GpuMemory = "growth"
    """`all` at once (TensorFlow's way), `growth` as needed, or a limit in MiB a replica."""
    per_replica_batch_size: int | None = None
    global_batch_size: int | None = None
    last_batch: str = "drop"
    """What becomes of an epoch's examples that do not fill a global batch: drop, keep or repeat."""
    pipeline: str = "usual"
    epochs: int = 5
    steps_per_epoch: int | None = None
    """None: the whole data once. More than the data holds repeats it."""
    optimizer: str = "adam"
    learning_rate: float = 0.001
    learning_rate_scaling: str = "none"
    """How the learning rate grows with the replicas: none, linear or square_root."""
    clip_norm: float | None = None
    """Clip by the global norm of the gradient summed over replicas (custom loop). None: never."""
    steps_per_call: int | None = None
    """Steps in one graph call. None: found at run time (fit: at most 50); 1 helps debugging."""
    eager: bool = False
    seed: int = 42
    data_dir: str | None = None
    synthetic_examples: int = 10_000
    synthetic_features: int = 10
    synthetic_noise: float = 0.1
    """Standard deviation of the noise added before the label is decided."""
    interpreter: str | None = None
    """The Python that trains. None: the one that plans."""
    start_now: bool = False
    """Start although another run holds the same device, instead of waiting for it."""

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values with the format's version first."""
        return {"version": CONFIG_VERSION, **json.loads(json.dumps(dataclasses.asdict(self)))}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> RunConfig:
        """Read what `to_json` wrote.

        Raises:
            ConfigError: a newer version, a name that is no field, or a value of another type.
        """
        if not isinstance(values, dict):
            raise ConfigError(
                "A config is a JSON object of fields and values; "
                f'received {_shown(values)}. Write it as {{"version": 1, ...}}.'
            )
        version = values.get("version", CONFIG_VERSION)
        if type(version) is not int or not 1 <= version <= CONFIG_VERSION:
            raise ConfigError(
                f"This release reads configs of version {CONFIG_VERSION}; received version "
                f"{_shown(version)}. Install the release that wrote it, or set the version to "
                f"{CONFIG_VERSION} and keep only the fields known here."
            )
        hints = typing.get_type_hints(cls)
        fields: dict[str, Any] = {}
        for name, given in values.items():
            if name == "version":
                continue
            if name not in hints:
                raise ConfigError(
                    f"A config has the fields {', '.join(hints)}; received {_shown(name)}. "
                    f"{_nearest(name, list(hints))}"
                )
            value: Any = tuple(given) if isinstance(given, list) else given
            if not _fits(value, hints[name]):
                raise ConfigError(
                    f"{name} is of type {_type_name(hints[name])}; received {_shown(value)} "
                    f"({type(value).__name__}). Change the value of {name}."
                )
            fields[name] = float(value) if hints[name] is float else value
        return cls(**fields)


class ConfigError(ValueError):
    """A config that cannot be read: the rule, the value received, the change that mends it."""


def _fits(value: object, hint: Any) -> bool:
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, option) for option in typing.get_args(hint))
    if origin is Literal:
        return value in typing.get_args(hint)
    if origin is tuple:
        return isinstance(value, tuple) and all(type(item) is str for item in value)
    if hint is float:
        return type(value) in (int, float)
    return type(value) is hint


def _type_name(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint).replace("typing.", "")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _nearest(name: str, known: list[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, known, n=1)
    return f"Did you mean {close[0]}?" if close else f"Remove {_shown(name)}."
