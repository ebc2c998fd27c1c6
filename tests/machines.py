"""Machines that plans are made for, as detection would describe them."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

from workbench.devices import Devices, Gpu

GIB = 2**30


def machine(*memories_bytes: int | None) -> Devices:
    """A machine of this interpreter with a GPU of each of these memories; None is unknown."""
    return Devices(
        cpu_model="a processor",
        cpu_cores=8,
        memory_bytes=32 * GIB,
        gpus=tuple(
            Gpu(f"GPU:{number}", "a GPU", memory_bytes, "8.0")
            for number, memory_bytes in enumerate(memories_bytes)
        ),
        tpu_chips=0,
        tpu_kind=None,
        interpreter=sys.executable,
        python_version="3.11.9",
        tensorflow_version="2.21.0",
        keras_version="3.15.1",
        tf_keras_version="2.21.0",
        problems=(),
    )


LAPTOP = machine()
ONE_GPU = machine(16 * GIB)
TWO_GPUS = machine(16 * GIB, 24 * GIB)
FOUR_GPUS = machine(*[16 * GIB] * 4)
EIGHT_GPUS = machine(*[16 * GIB] * 8)
TPU_VM = dataclasses.replace(LAPTOP, tpu_chips=2, tpu_kind="v5e")
TPU_STAND_IN = Path(__file__).parent / "tpu" / "stand_in.py"
"""What stands in for the Python of a machine with a TPU."""
