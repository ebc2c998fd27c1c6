"""The curves of runs as a frame, for charts of several runs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.runs.records.cache import RunLines

from .actions import refusing
from .errors import RequestError
from .frames import packed

if TYPE_CHECKING:
    from .folder import RunsFolder

MOST_SECONDS = 0.2
"""After this time a frame gets no more runs, so that a page shows the first of many long runs."""


def series_of(folder: RunsFolder, asked: Sequence[str]) -> str | bytes:
    """Return a frame with the curves of these runs: of the first, and of those read in 0.2 s.

    Its `runs` have for each run either `error`, why it cannot be read, or `steps_a_point`. Each
    run has a buffer: float64 [6, points], little-endian, with NaN where a value is not known. The
    rows are step, examples, training seconds, loss, accuracy and examples per second, over all
    replicas.
    """
    heads: list[dict[str, Any]] = []
    buffers = []
    end = time.monotonic() + MOST_SECONDS
    for run_id in asked:
        head, buffer = _series(folder, run_id)
        heads.append(head)
        buffers.append(buffer)
        if time.monotonic() > end:
            break
    return packed({"runs": heads}, buffers)


def _series(folder: RunsFolder, run_id: str) -> tuple[dict[str, Any], bytes]:
    try:
        run = folder.run(run_id)
        with refusing():
            lines = RunLines(run.dir, run.plan).read()
    except RequestError as error:
        return {"error": error.message}, b""
    none = np.full(len(lines.step), np.nan)
    measures = (lines.loss, lines.accuracy, lines.rate)
    values = [each[0] if lines.synchronous else none for each in measures]
    rows = np.vstack([lines.step, lines.examples, lines.training_seconds, *values])
    return {"steps_a_point": lines.steps_a_point}, rows.astype("<f8").tobytes()
