"""Trains a few steps at each of several batch sizes: `try_batches DATA_MIB FOLDER...`.

Runs in the run's interpreter. Each folder holds the script that a run of that batch would have. The
scripts' own `main` functions run one after another in this process. The recorder times the calls
that a run would make, then does up to two test steps and saves. One line of JSON per size gives the
peak memory in bytes, and the blocks of calls as [steps, seconds].

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
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

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
MIB = 2**20


class Measured(SystemExit):
    """The exit of a script whose size has given all values."""


def timing_recorder(recorder: type, blocks: list[list[float]]) -> type:
    """Return a script's recorder changed to time steps and to end after the first test pass."""

    class Timing(recorder):  # type: ignore[misc]
        is_due = False
        save_seconds = float("inf")  # of scripts of earlier releases

        def check_weights(self) -> None:
            """Check nothing: steps take the same time with finite weights and without."""

        def train(self, steps: Callable, data: Any, count: int) -> dict[str, float]:
            if not blocks:
                blocks.extend(time_blocks(self, endless_calls(self, steps, data, count)))
            return {"loss": 0.0, "accuracy": 0.0}  # Keras asks for them; nobody sees them

        def test(self, steps: Callable, data: Any, count: int) -> None:
            for _ in self.calls(steps, data, min(count, TEST_STEPS)):
                pass
            self.save()
            self.summed(np.zeros(1))  # waits, as the first end may stop the others' coordination
            raise Measured

    return Timing


def endless_calls(
    recorder: Any, steps: Callable, data: Any, count: int
) -> Iterator[tuple[int, float]]:
    """Yield steps and seconds of the calls that a run with epochs of `count` steps would make."""
    while True:
        for rows, _, seconds in recorder.calls(steps, data, count):
            yield len(rows), seconds


def time_blocks(recorder: Any, calls: Iterator[tuple[int, float]]) -> list[list[float]]:
    """Return steps and seconds of blocks of calls, without the calls that trace and warm up.

    Several tasks stop together, because each computes with the mean of all their times.
    """

    def agreed(seconds: float) -> float:
        return float(recorder.summed(np.array([seconds]))[0] / recorder.tasks)

    agreed(next(calls)[1])
    blocks, warm = [[0.0, 0.0]], 0.0
    for steps, own_seconds in calls:
        seconds = agreed(own_seconds)
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
    """Run the script of a size until it is measured."""
    script = import_script(folder / "train.py")
    blocks: list[list[float]] = []
    script.Recorder = timing_recorder(script.Recorder, blocks)
    if (script.STEPS_PER_CALL or 0) > MOST_STEPS_PER_CALL:
        script.STEPS_PER_CALL = None  # complete epochs of small batches take too long
    sys.argv = ["train.py", "--run-dir", str(folder)]
    with contextlib.suppress(Measured):
        script.main()
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
