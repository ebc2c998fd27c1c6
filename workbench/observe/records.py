"""The records of one worker: an array of its steps, and a log of its calls.

Row n of steps.f4 (.f8 in float64) is step n: [replicas, columns]. The log calls.f8 has a row for
each call: first step, number of steps, start in seconds since 1970, seconds. A row replaces all
that was recorded from its first step on; one without steps begins an attempt at the run.
"""

import pathlib
import time

import numpy as np

LOG_ROW_BYTES, UPDATE_BYTES = 32, 24


class Records:
    """The records of one worker in a folder."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder, self.begun = folder, False

    def begin(self, step: int) -> None:
        """Begin an attempt at this step: what was recorded from there on no longer counts.

        Raises:
            OSError: it cannot be written.
        """
        self._write("calls.f8", np.array([step, 0, time.time(), 0]))
        self.begun = True

    def append(self, step: int, rows: np.ndarray, start: float, seconds: float) -> None:
        """Record a call of len(rows) steps from `step` on: rows [steps, replicas, columns].

        Raises:
            OSError: it cannot be written.
        """
        if not self.begun:
            self.begin(step)
        self._write(f"steps.f{rows.itemsize}", rows, step * rows[0].nbytes)
        self._write("calls.f8", np.array([step, len(rows), start, seconds]))

    def append_updates(self, step: int, times: np.ndarray) -> None:
        """Record when each step from `step` on read the weights and updated them: [steps, 2].

        The file `updates` has rows of float64: step, both times in seconds since 1970.

        Raises:
            OSError: it cannot be written.
        """
        with (self.folder / "updates").open("ab") as file:
            file.truncate(file.tell() // UPDATE_BYTES * UPDATE_BYTES)
            steps = step + np.arange(len(times))
            file.write(np.column_stack([steps, times]).astype("<f8").tobytes())

    def _write(self, name: str, values: np.ndarray, at: int | None = None) -> None:
        """Write at byte `at`, or after the last complete call, in place of all that follows."""
        with (self.folder / name).open("ab") as file:
            end = file.tell() // LOG_ROW_BYTES * LOG_ROW_BYTES if at is None else at
            file.truncate(end)
            file.write(values.astype(values.dtype.newbyteorder("<")).tobytes())
