"""The most memory that a run's processes have held, on the host and on their devices.

The supervisor imports it: standard library only.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from workbench.runs.folder.events import read_events

EVENT = "peak_memory"
DEVICE_EVENT = "device_memory"
"""What a task tells at each checkpoint and at its end, of devices whose memory is counted."""


def peak_bytes_of(pid: int) -> int | None:
    """Return the most memory that a living process has held at once; None where it is not told.

    Linux alone tells it, as `VmHWM` of proc_pid_status(5), in KiB.
    """
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    told = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")]
    return 1024 * int(told[0]) if told else None


def read_peak_bytes(run_dir: Path) -> dict[str, int]:
    """Return the most bytes that each task held, over all attempts that are over.

    Memory that processes share counts for each of them. Tasks of which it is unknown are absent.
    """
    peaks: dict[str, int] = {}
    for event in read_events(run_dir / "events.jsonl"):
        if event["event"] == EVENT:
            for task, held in event["bytes"].items():
                peaks[task] = max(held, peaks.get(task, 0))
    return peaks


def read_device_peak_bytes(run_dir: Path, tasks: Iterable[str]) -> dict[str, dict[str, int]]:
    """Return the most bytes that each task held on each of its GPUs or TPUs, by the device's name.

    Of all attempts, and as far as told until now. TensorFlow counts what it gave out, not what it
    keeps in reserve; a CPU's memory it does not count. Tasks of which it is unknown are absent.
    """
    peaks: dict[str, dict[str, int]] = {}
    for task in tasks:
        for event in read_events(run_dir / task / "events.jsonl"):
            if event["event"] == DEVICE_EVENT:
                own = peaks.setdefault(task, {})
                for device, held in event["peak_bytes"].items():
                    own[device] = max(held, own.get(device, 0))
    return peaks
