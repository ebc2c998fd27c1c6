"""Whether a process ended because memory was short, or for another reason."""

from __future__ import annotations

import re
import signal

_MEMORY = re.compile(
    r"ResourceExhaustedError|RESOURCE_EXHAUSTED|OOM when allocating|[Oo]ut of memory|OUT_OF_MEMORY"
    r"|MemoryError|bad_alloc|[Cc]annot allocate memory|[Ff]ailed to allocate|ALLOC_FAILED"
    # A thread's stack is memory too.
    r"|pthread_create\(\) failed|can't start new thread"
)
_OTHER_RESOURCES = re.compile(r"No space left on device|Disk quota exceeded|Too many open files")
_BROKEN = re.compile(
    r"Check failed|corrupt|double free|invalid pointer|Assertion|Fatal Python error"
)


def lack_of_memory(exit_status: int, cause: str, log: str) -> str | None:
    """Return in words how a process ended for lack of memory; None if it ended otherwise.

    Args:
        exit_status: as in `subprocess`: below 0 for a signal.
        cause: the line of the log that names the error, as `runs.supervise.diagnosis.explain` finds
            it.
        log: the end of the process's log.
    """
    if exit_status == -signal.SIGKILL:
        return "the system killed it (SIGKILL), as it does when memory is short"
    if exit_status == -signal.SIGABRT:
        if _MEMORY.search(log) or not _BROKEN.search(log):
            return "it aborted (SIGABRT), as it does when std::bad_alloc is not caught"
        return None
    if exit_status > 0 and _MEMORY.search(cause) and not _OTHER_RESOURCES.search(cause):
        return cause
    return None
