"""The events of a task, appended to a file: a line of JSON each."""

import contextlib
import json
import math
import pathlib
import re
import threading
import time
from typing import Any

SHOWN = frozenset((
    "checkpoint_damaged", "checkpoint_failed", "model_not_saved", "no_room", "nonfinite",
    "stopped", "unrecorded",
))  # fmt: skip
"""Events that are also printed, because the script itself does not tell of them."""
NO_ROOM = re.compile("No space left|quota exceeded")
"""In the error of a full disk."""


class Events:
    """The events of one task. On a full disk they wait in memory."""

    def __init__(self, folder: pathlib.Path | None) -> None:
        """Write to `folder`/events.jsonl; None: nowhere."""
        self.path = None if folder is None else folder / "events.jsonl"
        self.unwritten = ""
        self.lock = threading.Lock()

    def add(self, name: str, **values: Any) -> None:
        """Append an event to the file. NaN, an unknown number, becomes null."""
        line = {"time": time.time(), "event": name, **values}
        unknown = [
            key for key, each in line.items() if isinstance(each, float) and math.isnan(each)
        ]
        with self.lock:
            self.unwritten += json.dumps({**line, **dict.fromkeys(unknown)}) + "\n"
        if name in SHOWN:
            with contextlib.suppress(OSError):
                print(name, *(f"{key}={value}" for key, value in values.items()), flush=True)
        self.flush()

    def flush(self) -> OSError | None:
        """Write the unwritten events; return the error if that fails."""
        with self.lock:
            try:
                if self.path:
                    with self.path.open("a") as file:
                        file.write(self.unwritten)
                self.unwritten = ""
            except OSError as error:
                self.unwritten = "\n" + self.unwritten.lstrip()  # ends a partly written line
                return error
        return None

    def last(self, name: str, **values: Any) -> None:
        """Add the last event, and wait while the disk is full until it is written."""
        self.add(name, **values)
        while self.unwritten and NO_ROOM.search(str(self.flush())):
            time.sleep(1)
