"""Proof that a forked process can train on each GPU of this machine: a child of the server tries.

The result is kept together with the TensorFlow, the driver and the GPUs of the proof. Importing
TensorFlow opens no GPU, as `proofs` checks. So a fork starts without an open GPU, like any process.
"""

import contextlib
import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any

PROOF_SECONDS = 180
NAME = "gpus.json"
DEVICES = ("nvidia[0-9]*", "kfd", "dxg")
DRIVER = Path("/proc/driver/nvidia/version")
VISIBLE = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
TRAINED, FAILED, HAS_NONE = 0, 1, 2


def why_not(folder: Path, lock_fd: int) -> str:
    """Return the reason why a process must not be forked to train on these GPUs; empty if it may.

    The process of the proof does not hold the lock, which belongs to the server.
    """
    found = sorted(path.name for pattern in DEVICES for path in Path("/dev").glob(pattern))
    if not found:
        return ""
    seen = [os.environ.get(name) for name in VISIBLE]
    here = json.dumps([socket.gethostname(), sys.executable, version(), driver(), found, seen])
    ended = known(folder).get(here)
    if ended is None:
        ended = prove("GPU", lock_fd)
        if ended == TRAINED:  # any other result may change another time
            with contextlib.suppress(OSError):
                (folder / NAME).write_text(json.dumps({**known(folder), here: ended}))
    if ended in (TRAINED, HAS_NONE):
        return ""
    if ended == -signal.SIGALRM:
        return f"a forked process needed over {PROOF_SECONDS} s to train on this machine's GPUs"
    return "a forked process could not train on the GPUs in a test"


def known(folder: Path) -> dict[str, int]:
    """Return the exit status of each kept proof."""
    with contextlib.suppress(OSError, ValueError):
        values: dict[str, int] = json.loads((folder / NAME).read_text())
        return values
    return {}


def driver() -> str:
    """Return the driver's text about its version; empty if there is none."""
    with contextlib.suppress(OSError):
        return DRIVER.read_text()
    return ""


def version() -> str:
    """Return TensorFlow's version; empty if it is not imported."""
    module: Any = sys.modules.get("tensorflow")
    return str(module.__version__) if module is not None else ""


def prove(kind: str, lock_fd: int) -> int:
    """Train in a child on each device of a kind; return its status, negative after a signal."""
    child = os.fork()
    if not child:
        os.close(lock_fd)
        signal.alarm(PROOF_SECONDS)  # it may hang, and then gives no result
        try:
            os._exit(train(kind))
        except BaseException:
            os._exit(FAILED)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def train(kind: str) -> int:
    """Train for two steps on each device of this kind, `GPU` or `CPU`.

    Return `TRAINED`, or `HAS_NONE` if there is no such device.
    """
    tf: Any = sys.modules["tensorflow"]
    devices = tf.config.list_physical_devices(kind)
    for device in devices:
        with contextlib.suppress(ValueError):  # a CPU has no such choice
            tf.config.experimental.set_memory_growth(device, True)
    for number, _ in enumerate(devices):
        with tf.device(f"{kind}:{number}"):
            weights = tf.Variable(tf.ones([8, 1]))
            for _ in range(2):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(tf.square(tf.matmul(tf.ones([4, 8]), weights)))
                weights.assign_sub(0.1 * tape.gradient(loss, weights))
            weights.numpy()
    return TRAINED if devices else HAS_NONE
