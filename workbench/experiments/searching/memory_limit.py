"""The memory limit of a trial on a CPU."""

from __future__ import annotations

from workbench.devices.machine import available_bytes, memory_bytes
from workbench.plan import PlanError, Problem

MIB = 2**20
SHARE = 0.9
"""The share of the available memory; other processes may request the rest meanwhile."""


def usual_limit_mib(processes: int) -> int:
    """Return the MiB that each of `processes` processes may have on this machine now."""
    available = available_bytes()
    if available is None:
        available = memory_bytes() // 2
    return max(1, int(available * SHARE) // processes // MIB)


def check_limit(limit_mib: int | None, processes: int, *, on_cpu: bool) -> None:
    """Refuse a limit below 1 MiB or, on a CPU, one that the processes cannot all have now.

    Raises:
        PlanError: the limit is refused; the problem gives the rule.
    """
    if limit_mib is None:
        return
    if limit_mib < 1:
        fix = "Leave it empty, or set it to 2048, for example."
        raise PlanError([Problem("memory_limit", "MiB above 0", str(limit_mib), fix)])
    available = available_bytes()
    if on_cpu and available is not None and limit_mib * processes > available // MIB:
        most = available // MIB // processes
        rule = f"at most {most:,} MiB for each of {processes} processes, which is available now"
        if processes == 1:
            rule = f"at most {most:,} MiB, which is available now"
        fix = "Set it to less, or leave it empty."
        raise PlanError([Problem("memory_limit", rule, f"{limit_mib:,}", fix)])
