"""A stand-in for a TPU on machines without one: `stand_in.py SCRIPT ARGUMENTS...`.

TensorFlow's public names for a TPU give replicas on logical CPU devices; everything else is
TensorFlow's own. The stand-in cannot show compilation by XLA, real bfloat16, the chip's memory,
its speed, several hosts, and whether libtpu fits.
"""

import os
import pathlib
import runpy
import sys
from typing import Any

import tensorflow as tf

CORES = int(os.environ.get("TPU_STAND_IN_CORES", "2"))
CALLS: list[str] = []
"""The calls of the script to the TPU, in order."""
PREFIX = "stand-in for a TPU: "
"""The start of the log line of each call."""


def note(call: str) -> None:
    CALLS.append(call)
    sys.stderr.write(f"{PREFIX}{call}\n")


class Resolver:
    """A resolver that finds the stand-in under any name."""

    def __init__(self, tpu: str | None = None) -> None:
        if not tpu:
            raise ValueError("Please provide a TPU Name to connect to.")
        note(f"resolve {tpu}")


class TPUStrategy(tf.distribute.MirroredStrategy):  # a class, because Keras checks its type
    def __init__(self, resolver: Resolver) -> None:
        assert isinstance(resolver, Resolver)
        note("strategy")
        operations = tf.distribute.ReductionToOneDevice()
        devices = [f"CPU:{core}" for core in range(CORES)]
        super().__init__(devices, cross_device_ops=operations)


def connect(resolver: Resolver) -> None:
    note("connect")


def initialize(resolver: Resolver) -> None:
    if "initialize" in CALLS:
        raise RuntimeError("A TPU system is initialized once in a process.")
    note("initialize")
    cpu = tf.config.list_physical_devices("CPU")[0]
    parts = [tf.config.LogicalDeviceConfiguration()] * CORES
    tf.config.set_logical_device_configuration(cpu, parts)


def stand_in() -> None:
    """Replace TensorFlow's names with the stand-in's."""
    tf.distribute.cluster_resolver.TPUClusterResolver = Resolver
    tf.config.experimental_connect_to_cluster = connect
    tf.tpu.experimental.initialize_tpu_system = initialize
    tf.distribute.TPUStrategy = TPUStrategy


def main(script: str, *arguments: Any) -> None:
    stand_in()
    sys.argv = [script, *arguments]
    sys.path.insert(0, str(pathlib.Path(script).parent))
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main(*[argument for argument in sys.argv[1:] if argument != "-u"])
