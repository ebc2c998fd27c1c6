"""The CPU and the memory of this machine that this process may use."""

from __future__ import annotations

import math
import os
import platform
import subprocess
from pathlib import Path

from workbench.devices import cgroups


def cpu_model(root: Path = Path("/")) -> str | None:
    """Return the processor's name; None if the system gives none (many Arm machines)."""
    if platform.system() == "Darwin":
        return _macos_cpu_model()
    try:
        lines = (root / "proc/cpuinfo").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        key, _, value = line.partition(":")
        if key.strip() == "model name" and value.strip():
            return " ".join(value.split())
    return None


def cpu_cores(root: Path = Path("/")) -> int:
    """Return the number of logical cores this process may use; a quota is rounded up."""
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    quota = cgroups.cpu_quota(root)
    return cores if quota is None else min(cores, max(1, math.ceil(quota)))


def memory_bytes(root: Path = Path("/")) -> int:
    """Return the RAM, or the control group's limit if it is lower."""
    installed = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limit = cgroups.memory_limit(root)
    return installed if limit is None else min(installed, limit.limit_bytes)


def available_bytes(root: Path = Path("/")) -> int | None:
    """Return the memory that new processes can use now without ending other processes.

    This is the available memory that the system reports (proc(5), MemAvailable), or the rest of
    the control group's limit if the rest is less. The result is None if the system reports none.
    """
    try:
        lines = (root / "proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    number_and_unit = fields.get("MemAvailable", "").split()
    if not number_and_unit:
        return None
    available, limit = int(number_and_unit[0]) * 1024, cgroups.memory_limit(root)
    if limit is None or limit.used_bytes is None:
        return available
    return min(available, max(0, limit.limit_bytes - limit.used_bytes))


def _macos_cpu_model() -> str | None:
    try:
        answer = subprocess.run(
            ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"],
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip() or None
