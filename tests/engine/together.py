"""Train in several run folders, one after another in this one process: `together.py DIR...`.

A folder given as DIR:calls receives a request to stop after it has recorded its first call, one
given as DIR:test after its first test pass has begun.

The script of each folder runs unchanged, from its `main`. Beside the records this program writes
the log, the exit status in status.json, and the trace count of each graph function in traces.json.
"""

import contextlib
import importlib.util
import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import tensorflow as tf

from workbench.observe.process import listen
from workbench.observe.watch import Watch


def load(path: Path) -> ModuleType:
    """Return a script as a module; its `main` has not run."""
    spec = importlib.util.spec_from_file_location(f"script_{path.parent.name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # AutoGraph finds the source through it
    spec.loader.exec_module(module)
    return module


class Counting(Watch):
    """An observer that keeps the graph functions that run steps."""

    functions: dict[int, Any]

    def enter(self, trains: bool) -> None:
        if self.calls.current is not None:
            self.functions[id(self.calls.current)] = self.calls.current
        super().enter(trains)


def train_observed(script: ModuleType, folder: Path) -> list[Any]:
    """Run the `main` of a lesson under observation, in this process; return its graph functions."""
    stop = threading.Event()
    threading.Thread(target=listen, args=(stop,), daemon=True).start()
    measures_norms = json.loads((folder / "config.json").read_text())["gradient_norms"]
    with Counting(folder, "worker-0", stop, measures_norms=measures_norms) as watch:
        watch.functions = {}
        watch.event("imported")
        script.main(str(folder))
        watch.finish()
    return list(watch.functions.values())


def train(folder: Path) -> int:
    """Run the script of a folder, write its traces beside it and return its exit status."""
    tf.config.run_functions_eagerly(False)  # as before the script of another folder
    script = load(folder / "train.py")
    sys.argv = ["train.py", "--run-dir", str(folder)]
    status: Any = 0
    functions = list[Any]()
    try:
        functions = train_observed(script, folder)
    except SystemExit as end:
        status = end.code
        if isinstance(status, str):
            sys.stderr.write(status + "\n")
    except Exception:
        traceback.print_exc()
        status = 1
    counts = [each.experimental_get_tracing_count() for each in functions]
    (folder / "traces.json").write_text(json.dumps(counts))
    return status if isinstance(status, int) else 1


@contextlib.contextmanager
def stopping(folder: Path, sign: str) -> Iterator[None]:
    """Request a stop through a pipe, as a supervisor does."""
    read_end, write_end = os.pipe()
    events = folder / "worker-0" / "events.jsonl"

    def has_begun() -> bool:
        if sign == "test":
            return events.exists() and '"event": "test"' in events.read_text()
        return any(folder.glob("worker-0/steps.f4"))

    def request_stop() -> None:
        while not has_begun():
            time.sleep(0.002)
        os.write(write_end, b"s")

    os.environ["WORKBENCH_STOP_FD"] = str(read_end)
    threading.Thread(target=request_stop, daemon=True).start()
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
    os._exit(0)  # closes no pipeline, which can take a minute: see leave_with
