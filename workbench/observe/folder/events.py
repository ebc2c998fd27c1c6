"""The events of a task, and those of a run that no supervisor watches; the names of tasks."""

import contextlib
import json
import math
import os
import pathlib
import re
import threading
import time
import traceback
import types
from collections.abc import Iterator
from typing import Any

STOP_FD = "WORKBENCH_STOP_FD"
"""The variable that names the pipe of a supervisor. Without it, the script was started by hand."""
SHOWN = frozenset((
    "checkpoint_damaged", "checkpoint_failed", "model_not_saved", "no_room", "nonfinite",
    "not_recorded", "stopped", "unrecorded",
))  # fmt: skip
"""Events that are also printed, because the script itself does not tell of them."""
STATES = {"start": "running", "stopped": "stopped", "finished": "finished"}
"""The state of a run after an event of its leading task."""
NO_ROOM = re.compile("No space left|quota exceeded")
"""In the error of a full disk."""


class NonFiniteExit(SystemExit):
    """The end of a script one of whose numbers is not finite; its status is 3."""

    def __init__(self) -> None:
        super().__init__(3)


class Events:
    """The events of one task. On a full disk they wait in memory."""

    def __init__(self, folder: pathlib.Path | None, run: "Events | None" = None) -> None:
        """Write to `folder`/events.jsonl; None: nowhere.

        `run` are the events of the run, if no supervisor writes them: they get its states.
        """
        self.path, self.run = None if folder is None else folder / "events.jsonl", run
        self.unwritten, self.process = "", os.getpid()
        self.lock = threading.Lock()

    def add(self, name: str, **values: Any) -> None:
        """Append an event to the file. An unknown number becomes null.

        A process that the script has forked appends nothing.
        """
        if os.getpid() != self.process:
            return
        line = json.dumps({"time": time.time(), "event": name, **values})
        known = json.loads(line, parse_constant=lambda _: None)
        with self.lock:
            self.unwritten += json.dumps(known) + "\n"
        if name in SHOWN:
            with contextlib.suppress(OSError):
                print(name, *(f"{key}={value}" for key, value in values.items()), flush=True)
        self.flush()
        if self.run is not None and name in STATES:
            self.run.add("state", state=STATES[name])

    def counts_at(self, step: int) -> dict[str, Any]:
        """Return what is known of a step: the epochs that were over, and sums of the next one.

        The sums are not numbers, unless an epoch has ended there.
        """
        ends = [(0, 0)]
        for event in events_in(self.path):
            if event["event"] == "start":
                ends = [each for each in ends if each[0] <= event["step"]]
            elif event["event"] == "epoch":
                ends.append((event["step"], event["epoch"]))
        end, over = max(each for each in ends if each[0] <= step)
        return {"step": step, "epoch": over, "sums": [0.0 if end == step else math.nan] * 4}

    def of_run(self) -> Iterator[list[dict[str, Any]]]:
        """Yield the events of each task of this run."""
        for path in self.path.parent.parent.glob("*/events.jsonl") if self.path else ():
            yield list(events_in(path))

    def saved(self, checkpoint: str, written_at: float) -> dict[str, Any] | None:
        """Return what was counted when a checkpoint was saved; None: unknown.

        `written_at` is the time of its file: a later save of that name has failed.
        """
        found = list[dict[str, Any]]()
        for events in self.of_run():
            begun = kept = dict[str, Any]()
            for event in events:
                if event.get("checkpoint") == checkpoint:
                    begun = event if event["event"] == "saving" else begun
                    kept = begun if event["event"] == "checkpoint" else kept
            found.append(kept if kept and begun["time"] > written_at else begun)
        return max(found, key=lambda event: event.get("time", 0.0), default={}).get("counts")

    @contextlib.contextmanager
    def of_failures(self, task: str) -> Iterator[None]:
        """Report that a task which was started by hand begins, and why it fails if it does."""
        if self.run is not None:
            self.run.add("state", state="starting", by_hand=True)
        try:
            yield
        except BaseException as error:
            if not isinstance(error, SystemExit) or error.code:
                shown = type(error), error, without_observer(error)
                log = "".join(traceback.format_exception(*shown))
                reason = self._reason(error)
                self.add("failed", **reason)
                if self.run is not None:
                    self.run.add("state", state="failed", task=task, log=log, **reason)
            raise

    def _reason(self, error: BaseException) -> dict[str, str]:
        fix = "start it again: it continues from its last checkpoint, if it has one."
        if isinstance(error, KeyboardInterrupt):
            return {"cause": "It was ended at its terminal.", "fix": f"To continue, {fix}"}
        if isinstance(error, NonFiniteExit):
            cause = "A loss or a weight was not a finite number."
            return {"cause": cause, "fix": "Lower the learning rate, and start in a new folder."}
        if isinstance(error, SystemExit) and isinstance(error.code, int):
            cause = f"The script ended with exit status {error.code}."
            return {"cause": cause, "fix": f"See what it printed. To try again, {fix}"}
        if isinstance(error, SystemExit):
            return {"cause": str(error.code), "fix": f"Once that is done, {fix}"}
        cause = "".join(traceback.format_exception_only(error)).strip()
        return {"cause": cause, "fix": f"Mend that, then {fix}"}

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
        for events in filter(None, (self, self.run)):
            while events.unwritten and NO_ROOM.search(str(events.flush())):
                time.sleep(1)


def events_in(path: pathlib.Path | None) -> Iterator[dict[str, Any]]:
    """Yield the events in a file, if it exists."""
    text = ""
    with contextlib.suppress(OSError):
        text = path.read_text(errors="replace") if path else ""
    for line in text.splitlines():
        with contextlib.suppress(ValueError):  # a full disk can cut a line
            yield json.loads(line)


def without_observer(error: BaseException) -> types.TracebackType | None:
    """Return where an error of the script was raised, beginning in the script."""
    here, left = str(pathlib.Path(__file__).parents[1]), error.__traceback__
    while left is not None:
        name = left.tb_frame.f_code.co_filename
        if not name.startswith(here) and "runpy" not in name:
            return left
        left = left.tb_next
    return error.__traceback__


def task_of(tf_config: str) -> str:
    """Return the name of the task that TF_CONFIG describes, such as `worker-0`.

    What TensorFlow cannot use describes the only task. TensorFlow reports it if it needs it.
    """
    with contextlib.suppress(ValueError, TypeError, KeyError, AttributeError):
        config = json.loads(tf_config)
        kind, index = config["task"]["type"], int(config["task"]["index"])
        cluster = config.get("cluster", {})
        if kind == "chief" and not cluster.get("ps"):  # it is a worker, too
            return f"worker-{index}"
        if kind == "worker" and not cluster.get("ps"):
            index += len(cluster.get("chief", ()))
        return f"{kind}-{index}"
    return "worker-0"


def tasks_of(tf_config: str) -> list[str]:
    """Return the names of the workers that step together, the leading one first.

    There are none beside parameter servers.
    """
    with contextlib.suppress(ValueError, TypeError, KeyError, AttributeError):
        cluster = json.loads(tf_config)["cluster"]
        count = len(cluster.get("chief", ())) + len(cluster.get("worker", ()))
        return [] if cluster.get("ps") else [f"worker-{number}" for number in range(count or 1)]
    return ["worker-0"]


def leader_of(tf_config: str) -> str:
    """Return the name of the task that reports how the run goes."""
    return (tasks_of(tf_config) or ["chief-0"])[0]
