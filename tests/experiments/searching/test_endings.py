"""A lack of memory is distinguished from every other end of a process."""

from __future__ import annotations

import signal

import pytest

from workbench.experiments.searching.endings import lack_of_memory

OOM = "tensorflow.python.framework.errors_impl.ResourceExhaustedError: Graph execution error:"


@pytest.mark.parametrize(
    ("status", "cause", "log"),
    [
        (-signal.SIGKILL, "", ""),
        (-signal.SIGABRT, "", "terminate called after throwing an instance of 'std::bad_alloc'"),
        (-signal.SIGABRT, "", ""),
        (-signal.SIGABRT, "", "F Check failed: ret == 0; pthread_create() failed."),
        (1, OOM, OOM),
        (1, "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 9 TiB", ""),
        (1, "InternalError: cuDNN status CUDNN_STATUS_ALLOC_FAILED", ""),
    ],
)  # fmt: skip
def test_a_lack_of_memory_is_recognized(status: int, cause: str, log: str) -> None:
    assert lack_of_memory(status, cause, log)


@pytest.mark.parametrize(
    ("status", "cause", "log"),
    [
        (1, "ValueError: Shapes are incompatible", f"a warning: {OOM}\nValueError: Shapes"),
        (1, "ResourceExhaustedError: /tmp/x; No space left on device", ""),
        (3, "", ""),
        (-signal.SIGABRT, "", "F tensor.cc: Check failed: dims == 2"),
        (-signal.SIGABRT, "", "malloc(): corrupted top size"),
        (-signal.SIGSEGV, "", "bad_alloc"),
        (-signal.SIGTERM, "", ""),
    ],
)
def test_other_ends_are_no_lack_of_memory(status: int, cause: str, log: str) -> None:
    assert lack_of_memory(status, cause, log) is None
