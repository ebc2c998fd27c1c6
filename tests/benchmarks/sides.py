"""A side of a comparison in a separate process, which runs a segment on each request."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator

from tests.benchmarks.alternation import Segment


@contextlib.contextmanager
def side(module: str, *arguments: str) -> Iterator[Segment]:
    """Start `python -m module arguments...` and yield a function that runs one of its segments.

    The process answers with `serve`.

    Raises:
        RuntimeError: the process ended before it answered.
    """
    command = [sys.executable, "-m", module, *arguments]
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "2"}
    child = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )
    assert child.stdin is not None
    assert child.stdout is not None
    questions, answers = child.stdin, child.stdout

    def segment() -> float:
        questions.write("run\n")
        questions.flush()
        if answer := answers.readline():
            return float(answer)
        raise RuntimeError(f"{' '.join(command[1:])} must answer with a rate; it ended.")

    try:
        yield segment
    finally:
        child.kill()
        child.wait()


def serve(segment: Segment) -> None:
    """Answer each line of standard input with the rate of a segment."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # output of TensorFlow and the scripts is not an answer
    for _ in sys.stdin:
        answers.write(f"{segment()}\n")
        answers.flush()
