"""Trains in several run folders, one after another in this one process: `together.py DIR...`.

A folder given as DIR:calls is asked to stop once it has recorded its first call, as DIR:test once
its first test pass has begun.

Each folder's script runs as it stands, from its `main`. Beside the records come the log, the exit
status in status.json, and how often each of its graph functions was traced in traces.json.
"""

import contextlib
import importlib.util
import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any


def load(path: Path) -> ModuleType:
    """Return a script as a module; its `main` has not run."""
    spec = importlib.util.spec_from_file_location(f"script_{path.parent.name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # AutoGraph looks for the source through it
    spec.loader.exec_module(module)
    return module


def train(folder: Path) -> int:
    """Run a folder's script and write beside it how it went."""
    script = load(folder / "train.py")
    make_loops, loops = script.make_loops, list[Any]()

    def watched(*args: Any) -> list[Callable[..., Any]]:
        loops.extend(make_loops(*args))
        return loops

    script.make_loops = watched  # type: ignore[attr-defined]
    sys.argv = ["train.py", "--run-dir", str(folder)]
    status: Any = 0
    try:
        script.main()
    except SystemExit as end:
        status = end.code
        if isinstance(status, str):
            sys.stderr.write(status + "\n")
    except Exception:
        traceback.print_exc()
        status = 1
    counts = [loop.experimental_get_tracing_count() for loop in loops]
    (folder / "traces.json").write_text(json.dumps(counts))
    return status if isinstance(status, int) else 1


@contextlib.contextmanager
def stopping(folder: Path, sign: str) -> Iterator[None]:
    """Ask for a stop by a pipe, as a supervisor does."""
    read_end, write_end = os.pipe()
    events = folder / "worker-0" / "events.jsonl"

    def begun() -> bool:
        if sign == "test":
            return events.exists() and '"event": "test"' in events.read_text()
        return any(folder.glob("worker-0/*.calls"))

    def ask() -> None:
        while not begun():
            time.sleep(0.002)
        os.write(write_end, b"s")

    os.environ["WORKBENCH_STOP_FD"] = str(read_end)
    threading.Thread(target=ask, daemon=True).start()
    yield
    del os.environ["WORKBENCH_STOP_FD"]


def main() -> None:
    for argument in sys.argv[1:]:
        path, _, sign = argument.partition(":")
        folder = Path(path)
        log = folder / "worker-0" / "log.txt"
        log.parent.mkdir(exist_ok=True)
        with (
            log.open("w") as file,
            contextlib.redirect_stdout(file),
            contextlib.redirect_stderr(file),
            stopping(folder, sign) if sign else contextlib.nullcontext(),
        ):
            status = train(folder)
        (folder / "status.json").write_text(json.dumps(status))


if __name__ == "__main__":
    main()
