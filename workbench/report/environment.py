"""The machines and interpreters of a report's runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.units import UNKNOWN, byte_size

from .html import Html, joined, section, tag
from .subject import Subject

if TYPE_CHECKING:
    from workbench.devices import Devices


def environments(subjects: Sequence[Subject]) -> Html:
    """Return the machine and interpreter of each run; equal ones appear once."""
    found: dict[str, tuple[list[str], Devices | None]] = {}
    for each in subjects:
        key = json.dumps(each.devices.to_json()) if each.devices else ""
        found.setdefault(key, ([], each.devices))[0].append(each.title)
    parts = []
    for titles, devices in found.values():
        whose = tag("h3", ", ".join(titles)) if len(found) > 1 else None
        parts.append(joined([p for p in (whose, _environment(devices)) if p is not None]))
    return section("Environment", *parts)


def _environment(devices: Devices | None) -> Html:
    if devices is None:
        return tag("p", "The run's folder does not record it.")
    gpus = [_gpu(*each) for each in ((g.name, g.model, g.memory_bytes) for g in devices.gpus)]
    tpus = f"{devices.tpu_chips} chips {devices.tpu_kind or ''}" if devices.tpu_chips else "none"
    pairs = {
        "CPU": f"{devices.cpu_model or UNKNOWN}, {devices.cpu_cores or UNKNOWN} cores",
        "Memory": byte_size(devices.memory_bytes),
        "GPUs": "; ".join(gpus) or "none",
        "TPUs": tpus,
        "Python": devices.python_version,
        "TensorFlow": devices.tensorflow_version or UNKNOWN,
        "Keras": devices.keras_version or UNKNOWN,
        "tf-keras": devices.tf_keras_version or "not installed",
        "Interpreter": devices.interpreter,
    }
    wide = {"Interpreter": "wide"}
    return tag(
        "dl",
        *(tag("div", tag("dt", n), tag("dd", v), class_=wide.get(n)) for n, v in pairs.items()),
    )


def _gpu(name: str, model: str | None, memory_bytes: int | None) -> str:
    return f"{name} {model or UNKNOWN}, {byte_size(memory_bytes)}"
