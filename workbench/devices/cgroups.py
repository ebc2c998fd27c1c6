"""The limits that a container or a job manager puts on this process (Linux control groups 1, 2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class MemoryLimit:
    """The lowest memory limit of this process, and the part of it that is in use."""

    limit_bytes: int
    used_bytes: int | None
    """Without the page cache that the kernel can drop; None if the kernel gives no value."""


def cpu_quota(root: Path = Path("/")) -> float | None:
    """Return the CPU time that this process may use, as a number of CPUs; None without a quota."""
    quotas = []
    for folder in _folders(root, "cpu"):
        values = (_text(folder / "cpu.max") or "").split()
        if not values:
            values = [
                _text(folder / "cpu.cfs_quota_us") or "",
                _text(folder / "cpu.cfs_period_us") or "",
            ]
        if len(values) == 2 and all(map(str.isdigit, values)) and int(values[1]) > 0:
            quotas.append(int(values[0]) / int(values[1]))
    return min(quotas, default=None)


def memory_limit(root: Path = Path("/")) -> MemoryLimit | None:
    """Return the lowest limit of all control groups of this process; None without a limit.

    Version 1 writes "no limit" as a number near 2**63. Callers compare this number with the RAM.
    """
    limits = []
    for folder in _folders(root, "memory"):
        limit = _text(folder / "memory.max") or _text(folder / "memory.limit_in_bytes") or ""
        if limit.isdigit():
            limits.append(MemoryLimit(int(limit), _used_bytes(folder)))
    return min(limits, key=lambda found: found.limit_bytes, default=None)


def _used_bytes(folder: Path) -> int | None:
    used = _text(folder / "memory.current") or _text(folder / "memory.usage_in_bytes")
    if used is None or not used.isdigit():
        return None
    statistics = dict(
        line.split(maxsplit=1)
        for line in (_text(folder / "memory.stat") or "").splitlines()
        if " " in line
    )
    cache = statistics.get("total_inactive_file") or statistics.get("inactive_file", "0")
    return max(0, int(used) - int(cache))


def _folders(root: Path, controller: str) -> Iterator[Path]:
    """Yield the existing folders of the control group, innermost first.

    The folders belong to the version (1 or 2) that has the controller.
    """
    mount = root / "sys/fs/cgroup"
    for line in (_text(root / "proc/self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            base = mount / "unified" if (mount / "unified").is_dir() else mount
        elif controller in controllers.split(","):
            base = mount / controller
        else:
            continue
        inner = [] if ".." in path else [part for part in path.split("/") if part]
        for depth in range(len(inner), -1, -1):
            folder = base.joinpath(*inner[:depth])
            if folder.is_dir():
                yield folder


def _text(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None
