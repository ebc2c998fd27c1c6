"""A text about devices, for a terminal."""

from __future__ import annotations

import re
import textwrap

from workbench.devices.records import Devices, Gpu
from workbench.devices.tpu import REPLICAS_PER_CHIP

_WIDTH = 100
_LABEL_WIDTH = 13
_KEPT_SPACE = "\x00"


def describe(devices: Devices) -> str:
    """Return an aligned text: hardware, software, then the problems, each with its fix."""
    rows = [
        ("CPU", f"{devices.cpu_model or 'unknown model'}, {_count(devices.cpu_cores, 'core')}"),
        ("Memory", "unknown" if devices.memory_bytes is None else size(devices.memory_bytes)),
        *_gpu_rows(devices),
        ("TPU", tpu_line(devices) or "none found"),
        ("Python", f"{devices.python_version} ({devices.interpreter})"),
        ("TensorFlow", devices.tensorflow_version or "not installed"),
        ("Keras", _keras(devices)),
    ]
    lines = [f"{label:<{_LABEL_WIDTH}}{text}" for label, text in rows]
    if devices.problems:
        lines += ["", "Problems"]
    for number, problem in enumerate(devices.problems, start=1):
        lines += _wrapped(f"{number}. ", problem)
    return "\n".join(lines)


def size(number_of_bytes: int) -> str:
    """Return a size in GiB with one decimal, or in MiB below one GiB."""
    gib = number_of_bytes / 2**30
    return f"{gib:.1f} GiB" if gib >= 1 else f"{number_of_bytes / 2**20:.0f} MiB"


def tpu_line(devices: Devices) -> str:
    """Return the number of chips and of their replicas as text; empty without chips."""
    if not devices.tpu_chips:
        return ""
    kind = f"{devices.tpu_kind} " if devices.tpu_kind else ""
    text = _count(devices.tpu_chips, f"{kind}chip")
    each = REPLICAS_PER_CHIP.get(devices.tpu_kind or "")
    if each is None:
        return text
    how = "one chip is one replica" if each == 1 else "each of a chip's two cores is a replica"
    return f"{text}, {_count(devices.tpu_chips * each, 'replica')} ({how})"


def _gpu_rows(devices: Devices) -> list[tuple[str, str]]:
    if not devices.gpus:
        return [("GPU", "none that TensorFlow can use")]
    return [(gpu.name, _gpu(gpu)) for gpu in devices.gpus]


def _gpu(gpu: Gpu) -> str:
    parts = [
        gpu.model or "unknown model",
        "memory unknown" if gpu.memory_bytes is None else size(gpu.memory_bytes),
    ]
    if gpu.compute_capability is not None:
        parts.append(f"compute capability {gpu.compute_capability}")
    return ", ".join(parts)


def _keras(devices: Devices) -> str:
    keras = devices.keras_version or "not installed"
    return f"{keras}, legacy (tf-keras) {devices.tf_keras_version or 'not installed'}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _wrapped(label: str, text: str) -> list[str]:
    """Wrap a sentence, but never within a command, because users paste commands."""
    whole = re.sub("`[^`]*`", lambda command: command.group().replace(" ", _KEPT_SPACE), text)
    lines = textwrap.wrap(
        whole,
        _WIDTH,
        initial_indent=label,
        subsequent_indent=" " * len(label),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(_KEPT_SPACE, " ") for line in lines]
