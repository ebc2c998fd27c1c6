"""Proof that what is forked can train on each GPU of this machine: a child of the server has.

The outcome is kept for the TensorFlow, the driver and the GPUs that it was found with. Importing
TensorFlow opens no GPU, as `proofs` checks, so that a fork begins with none, as any process does.
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
    """Return why nothing that trains on these GPUs is to be forked; empty where it may be.

    The proof does not hold the lock, which is the server's.
    """
    found = sorted(path.name for pattern in DEVICES for path in Path("/dev").glob(pattern))
    if not found:
        return ""
    seen = [os.environ.get(name) for name in VISIBLE]
    here = json.dumps([socket.gethostname(), sys.executable, version(), driver(), found, seen])
    ended = known(folder).get(here)
    if ended is None:
        ended = prove("GPU", lock_fd)
        if ended == TRAINED:  # all else can be otherwise another time
            with contextlib.suppress(OSError):
                (folder / NAME).write_text(json.dumps({**known(folder), here: ended}))
    if ended in (TRAINED, HAS_NONE):
        return ""
    if ended == -signal.SIGALRM:
        return f"a forked process took over {PROOF_SECONDS} s to train on the GPUs of this machine"
    return "a forked process could not train on the GPUs when that was tried"


def known(folder: Path) -> dict[str, int]:
    """Return how each proof ended that is kept."""
    with contextlib.suppress(OSError, ValueError):
        values: dict[str, int] = json.loads((folder / NAME).read_text())
        return values
    return {}


def driver() -> str:
    """Return what the driver says of its version; empty where there is none that does."""
    with contextlib.suppress(OSError):
        return DRIVER.read_text()
    return ""


def version() -> str:
    """Return TensorFlow's version; empty where it is not imported."""
    module: Any = sys.modules.get("tensorflow")
    return str(module.__version__) if module is not None else ""


def prove(kind: str, lock_fd: int) -> int:
    """Train in a child on each device of a kind; return its exit status, below zero by a signal."""
    child = os.fork()
    if not child:
        os.close(lock_fd)
        signal.alarm(PROOF_SECONDS)  # it may hang, and says nothing then
        try:
            os._exit(train(kind))
        except BaseException:
            os._exit(FAILED)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def train(kind: str) -> int:
    """Take two steps on each device of a kind; return whether there was one."""
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
