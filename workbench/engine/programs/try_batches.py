"""Trains a few steps at each of several batch sizes: `try_batches DATA_MIB FOLDER...`.

Runs in the run's interpreter. Each folder holds the script that a run of that batch would have. The
scripts' parts train one after another in this process. The calls that a run would make are timed;
up to two test steps and a checkpoint follow. One line of JSON per size gives the peak memory in
bytes, and the blocks of calls as [steps, seconds].

If a size runs out of memory, the process dies, and its parent process notices that. DATA_MIB, if
above 0, limits the memory that the process may map (RLIMIT_DATA). It is a backstop for a machine on
which the parent does not notice high memory in time.
"""

import contextlib
import ctypes
import gc
import os
import pathlib
import resource
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from . import xray
from .asker import reply
from .script import import_script

WARM_CALL_SECONDS = 0.1
"""Calls grow from one step. Shorter calls are left out, for up to `WARM_SECONDS`."""
WARM_SECONDS = 0.3
BLOCK_SECONDS = 0.1
"""Calls are added up until they took this long, because each time has the clock's own noise."""
ENOUGH = ((8, 1.0), (5, 5.0), (3, 20.0))
"""Pairs of blocks and seconds; one pair is enough. If steps are long, few blocks must do."""
TEST_STEPS = 2
MOST_STEPS_PER_CALL = 50
CALL_SECONDS = 0.2
"""How long the calls of a script last that sets no number of steps."""
MIB = 2**20


def endless_calls(script: Any, steps: Callable, data: Any, agreed: Callable) -> Iterator[tuple]:
    """Yield steps and seconds of the calls that a run would make.

    Several tasks make the same calls, because each computes with the mean of all their times.
    """
    stack = script.STEPS_PER_STACK
    asked = min(script.STEPS_PER_CALL or 0, MOST_STEPS_PER_CALL)
    size = asked or 1
    while True:
        left = script.STEPS_PER_EPOCH
        while left:
            count = min(left, -(-size // stack) * stack)
            began = time.perf_counter()
            steps(data, tf.constant(count)).numpy()
            seconds = agreed(time.perf_counter() - began)
            yield count, seconds
            size = asked or max(1, min(int(CALL_SECONDS * count / seconds), 4 * count))
            left -= count


def time_blocks(calls: Iterator[tuple[int, float]]) -> list[list[float]]:
    """Return steps and seconds of blocks of calls, without the calls that trace and warm up."""
    next(calls)
    blocks, warm = [[0.0, 0.0]], 0.0
    for steps, seconds in calls:
        if len(blocks) == 1 and seconds < WARM_CALL_SECONDS and warm < WARM_SECONDS:
            warm += seconds
            continue
        blocks[-1][0] += steps
        blocks[-1][1] += seconds
        if blocks[-1][1] >= BLOCK_SECONDS:
            total = sum(each for _, each in blocks)
            if any(len(blocks) >= number and total >= least for number, least in ENOUGH):
                break
            blocks.append([0.0, 0.0])
    return blocks


def peak_bytes() -> int:
    """Return the peak memory in bytes since `forget`: of a replica's GPU, else of this process."""
    gpus = [
        device.name.removeprefix("/device:") for device in tf.config.list_logical_devices("GPU")
    ]
    if gpus:
        return max(tf.config.experimental.get_memory_info(gpu)["peak"] for gpu in gpus)
    with contextlib.suppress(OSError), open("/proc/self/status") as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    highest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return highest if sys.platform == "darwin" else highest * 1024


def forget() -> None:
    """Free the memory of the last size, and restart the count of the peak memory."""
    tf.keras.backend.clear_session()
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # proc(5): resets the peak resident set size
    for device in tf.config.list_logical_devices("GPU"):
        tf.config.experimental.reset_memory_stats(device.name.removeprefix("/device:"))


def bound_memory(data_mib: int) -> None:
    """Limit the memory; if memory is short, make the system end this process before all others."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
    if data_mib > 0:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_DATA, (data_mib * MIB, data_mib * MIB))


def try_size(folder: pathlib.Path) -> dict[str, Any]:
    """Train with the script of a size until it is measured."""
    script = import_script(folder / "train.py")
    strategy = script.make_strategy()
    model = xray.make_model(script, strategy)
    train_data, test_data = script.make_batches(strategy, 0)
    train_steps, test_steps = script.make_loops(strategy, *script.make_steps(model))

    def agreed(seconds: float) -> float:
        return xray.mean_of_tasks(strategy, seconds)

    blocks = time_blocks(endless_calls(script, train_steps, iter(train_data), agreed))
    if getattr(script, "NUM_TEST_EXAMPLES", 1):  # which a script without tests always has
        test_steps(iter(test_data), tf.constant(min(TEST_STEPS, script.TEST_STEPS)))
    checkpoint = tf.train.Checkpoint(model=model, optimizer=model.optimizer)
    checkpoint.save(str(folder / f"process-{os.getpid()}" / "ckpt"))
    agreed(0.0)  # waits, as the first end may stop the others' coordination
    shutil.rmtree(folder, ignore_errors=True)  # checkpoints of many sizes may fill a disk
    return {"peak_bytes": peak_bytes(), "blocks": blocks}


def main(data_mib: int, folders: list[pathlib.Path]) -> None:
    """Try one size after another and report each."""
    bound_memory(data_mib)
    for folder in folders:
        result = try_size(folder)
        reply({"folder": folder.name, **result})
        forget()


if __name__ == "__main__":
    main(int(sys.argv[1]), [pathlib.Path(text) for text in sys.argv[2:]])
    os._exit(0)  # nothing here is worth waiting for
