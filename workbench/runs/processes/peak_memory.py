"""The peak memory of a run's processes, on the host and on their devices.

The supervisor imports this module, so it uses only the standard library.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from workbench.runs.folder.events import read_events

EVENT = "peak_memory"
DEVICE_EVENT = "device_memory"
"""The event that a task writes at each checkpoint and at its end, for devices that count it."""


def peak_bytes_of(pid: int) -> int | None:
    """Return the peak memory of a living process in bytes; None if it is unknown.

    Only Linux reports it, as `VmHWM` of proc_pid_status(5), in KiB.
    """
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    kibibytes = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")]
    return 1024 * int(kibibytes[0]) if kibibytes else None


def read_peak_bytes(run_dir: Path) -> dict[str, int]:
    """Return the peak memory of each task in bytes, over all attempts that are over.

    Shared memory counts for each process that shares it. Tasks with an unknown value are absent.
    """
    peaks: dict[str, int] = {}
    for event in read_events(run_dir / "events.jsonl"):
        if event["event"] == EVENT:
            for task, held in event["bytes"].items():
                peaks[task] = max(held, peaks.get(task, 0))
    return peaks


def read_device_peak_bytes(run_dir: Path, tasks: Iterable[str]) -> dict[str, dict[str, int]]:
    """Return the peak memory of each task on each of its GPUs or TPUs in bytes, by device name.

    The values cover all attempts, as far as recorded until now. TensorFlow counts the memory that
    it gave out, not the memory that it keeps in reserve. It does not count the memory of a CPU.
    Tasks with an unknown value are absent.
    """
    peaks: dict[str, dict[str, int]] = {}
    for task in tasks:
        for event in read_events(run_dir / task / "events.jsonl"):
            if event["event"] == DEVICE_EVENT:
                own = peaks.setdefault(task, {})
                for device, held in event["peak_bytes"].items():
                    own[device] = max(held, own.get(device, 0))
    return peaks
