"""The current use of each device as meters: a share that can be drawn, and its text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from workbench.units import UNKNOWN, byte_size

if TYPE_CHECKING:
    from workbench.devices.usage import GpuUsage, Usage


class Meter(NamedTuple):
    """One line of the gauge."""

    name: str
    share: float | None
    """The part in use, 0 to 1; None if it is not known."""
    text: str


def meters(usage: Usage, *, gpus: int, tpu_chips: int) -> list[Meter]:
    """Return the meters of all devices; a device that cannot be measured has the text `unknown`.

    Args:
        usage: a measurement of the machine.
        gpus: the number of GPUs that the driver has, found by other means than `usage`.
        tpu_chips: the number of TPU chips on this machine.
    """
    busy = usage.cpu_percent
    found = [
        Meter("Memory in use", *_part(usage.memory_used_bytes, usage.memory_total_bytes)),
        Meter("CPU in use", None if busy is None else busy / 100, _percent(busy)),
    ]
    for number, gpu in enumerate(usage.gpus):
        found.append(_gpu(number, gpu))
    return [*found, *_unseen(usage, gpus, tpu_chips)]


def _gpu(number: int, gpu: GpuUsage) -> Meter:
    share, text = _part(gpu.memory_used_bytes, gpu.memory_total_bytes)
    parts = [text, f"{_percent(gpu.utilisation_percent)} busy"]
    if gpu.temperature_celsius is not None:
        parts.append(f"{gpu.temperature_celsius:.0f} °C")
    return Meter(f"{gpu.name}, GPU {number} in nvidia-smi", share, ", ".join(parts))


def _unseen(usage: Usage, gpus: int, tpu_chips: int) -> Iterator[Meter]:
    if gpus and not usage.gpus:
        yield Meter("GPUs in use", None, f"{UNKNOWN}: install nvidia-ml-py next to the workbench")
    if tpu_chips:
        chips = f"{tpu_chips} chip{'s' * (tpu_chips > 1)}"
        yield Meter(
            "TPU in use", None, f"{UNKNOWN} of {chips}: only the process that uses it can tell"
        )


def _part(used_bytes: int | None, total_bytes: int | None) -> tuple[float | None, str]:
    if used_bytes is None or not total_bytes:
        return None, UNKNOWN
    text = f"{byte_size(used_bytes)} of {byte_size(total_bytes)}"
    return min(1.0, used_bytes / total_bytes), text


def _percent(percent: float | None) -> str:
    return UNKNOWN if percent is None else f"{percent:.0f}%"
