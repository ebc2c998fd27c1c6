"""The folder of a run: its events, the names of its tasks, and what is made of it by hand.

A folder that a person names without a supervisor becomes a run of the workbench. It gets a card,
the script, the files that the script imports from its own folder, and the states of the run.
"""

import ast
import contextlib
import fcntl
import hashlib
import json
import math
import os
import pathlib
import platform
import re
import secrets
import sys
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
RUN_VERSION = 1
SCRIPT, CARD, KEPT_CODE = "train.py", "run.json", "own_code"
LOOK_SECONDS = 0.3
"""How long it may take until another process has looked whether the run is alive."""
OF_THE_PLAN = ("plan.json", "config.json", "devices.json")
"""Files that the workbench adds, which do not hold for a changed script."""


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
    here, left = str(pathlib.Path(__file__).parent), error.__traceback__
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


def leads(task: str, tf_config: str) -> bool:
    """Return whether a task is the one that reports how the run goes."""
    return task in ("chief-0", *tasks_of(tf_config)[:1])


def refuse(script: pathlib.Path, run_dir: pathlib.Path) -> None:
    """Refuse a folder that holds something else, which would be lost.

    Raises:
        SystemExit: it is a run that the workbench started, or holds another script.
    """
    kept, fix = run_dir / SCRIPT, "Name another folder as --run-dir"
    found = [name for name in (KEPT_CODE, *OF_THE_PLAN) if (run_dir / name).exists()]
    differs = kept.exists() and not holds(kept, script.read_bytes())
    card = read_card(run_dir)  # read last, because another task may make it and the files now
    if card and not card.get("by_hand"):
        sys.exit(f"{run_dir} is a run that the workbench started. {fix}, or resume it there.")
    if not card and differs:
        sys.exit(f"{run_dir} holds another script, {SCRIPT}. {fix}, or run that script.")
    if not card and found:
        sys.exit(f"{run_dir} holds {found[0]}, which is a name of a run's own file. {fix}.")


def read_card(run_dir: pathlib.Path) -> dict[str, Any]:
    """Return the card of a run; empty if there is none.

    Raises:
        SystemExit: it is damaged.
    """
    path = run_dir / CARD
    try:
        found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    except ValueError as error:
        sys.exit(f"{path} is damaged: {error}. Name another folder as --run-dir.")
    return found


def make_run(script: pathlib.Path, run_dir: pathlib.Path) -> Events:
    """Make a folder a run of this script, or of its present text; return the events of the run.

    Raises:
        SystemExit: the folder cannot be written.
    """
    text, made = script.read_bytes(), read_card(run_dir)
    files = {run_dir / KEPT_CODE / path.name: path.read_bytes() for path in modules_beside(script)}
    files[run_dir / SCRIPT] = text
    digest = hashlib.sha256(text).hexdigest()
    others = [path for path, content in files.items() if not holds(path, content)]
    outdated = ["stop"] if made else []
    if made and (others or made.get("script_sha256") != digest):
        made.pop("made_sha256", None)  # is of a script of the workbench
        outdated += OF_THE_PLAN
    try:
        values = {"version": RUN_VERSION, "id": run_dir.name, "created": time.time(), **made}
        values |= {"script_sha256": digest, "by_hand": True}
        values |= {"interpreter": sys.executable, "working_dir": str(pathlib.Path.cwd())}
        values["host"] = platform.node()
        put(run_dir / CARD, (json.dumps(values, indent=2) + "\n").encode())
        for path in others:
            path.parent.mkdir(exist_ok=True)
            put(path, files[path])
        for name in outdated:
            (run_dir / name).unlink(missing_ok=True)
    except OSError as error:
        sys.exit(
            f"{run_dir} cannot be written: {error.strerror}. Make room there or give yourself "
            "permission to write, or name another folder as --run-dir."
        )
    return Events(run_dir)


def holds(path: pathlib.Path, content: bytes) -> bool:
    """Return whether a file has this content."""
    return path.exists() and path.read_bytes() == content


def put(path: pathlib.Path, content: bytes) -> None:
    """Replace a file in one step, so that nobody reads a part of it."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        part.write_bytes(content)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def modules_beside(script: pathlib.Path) -> Iterator[pathlib.Path]:
    """Yield the files in the folder of a script that it imports, also by others of them."""
    found, left = {script}, [script]
    while left:
        for path in imported(left.pop()):
            if path not in found:
                found.add(path)
                left.append(path)
                yield path


def imported(module: pathlib.Path) -> Iterator[pathlib.Path]:
    """Yield the files beside a module that it imports by their names."""
    with contextlib.suppress(SyntaxError, ValueError):
        for node in ast.walk(ast.parse(module.read_bytes())):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            paths = [module.with_name(f"{name.partition('.')[0]}.py") for name in names]
            yield from filter(pathlib.Path.is_file, paths)


def hold(task: pathlib.Path) -> None:
    """Lock the folder of a task until this process ends, so that the run is alive that long.

    Raises:
        SystemExit: another process holds it.
    """
    until = time.monotonic() + LOOK_SECONDS  # who asks whether the run is alive locks it, too
    try:
        opened = os.open(task / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        held = [opened]
        os.register_at_fork(after_in_child=lambda: os.close(held.pop()) if held else None)
        while not locked(opened) and time.monotonic() < until:
            time.sleep(0.01)
        if not locked(opened):
            sys.exit(
                f"Another process records in {task}. Wait for its end, or name another folder as "
                "--run-dir."
            )
    except OSError as error:
        why = f"{task} cannot be locked: {error.strerror}."
        print(f"{why} Lists may show this run as lost while it trains.", flush=True)


def locked(opened: int) -> bool:
    """Lock an open file, or keep it locked; return False if another process has locked it."""
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False
