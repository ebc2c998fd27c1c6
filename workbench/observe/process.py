"""The process of an observed script: how it begins, is asked to stop, and ends."""

import argparse
import atexit
import contextlib
import ctypes
import os
import pathlib
import re
import runpy
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, NoReturn

from .folder.by_hand import LOOK_SECONDS, hold, make_run, read_card, refuse
from .folder.events import STOP_FD, Events, leader_of, task_of, without_observer

SETS_LEGACY = re.compile(r"^os\.environ\[.TF_USE_LEGACY_KERAS.\] *= *.(1|[Tt]rue)", re.MULTILINE)
"""The statement by which a script chooses tf-keras."""


def run(arguments: list[str]) -> NoReturn:
    """Run a script under observation, then end this process with its status."""
    options = argparse.ArgumentParser("observe")
    options.add_argument("--run-dir", type=pathlib.Path, help="the folder of the records")
    norms = "record the norm of each replica's gradient in each step"
    options.add_argument("--gradient-norms", action="store_true", help=norms)
    often = "the longest time between two checkpoints; needs a CheckpointManager in the script"
    options.add_argument("--save-seconds", type=seconds, metavar="N", help=often)
    options.add_argument("script", help="the script, followed by its own arguments")
    options.add_argument("arguments", nargs=argparse.REMAINDER)
    asked = options.parse_args(arguments)
    if not pathlib.Path(asked.script).is_file():
        options.error(f"there is no script {asked.script}")
    sys.argv = [asked.script, *asked.arguments]
    sys.path.insert(0, str(pathlib.Path(asked.script).parent.absolute()))
    run_dir = None if asked.run_dir is None else asked.run_dir.absolute()
    asks = {"measures_norms": asked.gradient_norms, "save_seconds": asked.save_seconds}
    leave_with(lambda: observe(asked.script, run_dir, **asks))


def seconds(text: str) -> float:
    """Return the number of seconds that a person has typed.

    Raises:
        ArgumentTypeError: it is not above 0.
    """
    with contextlib.suppress(ValueError):
        if (found := float(text)) > 0:
            return found
    raise argparse.ArgumentTypeError(f"needs a number above 0; got {text}")


def observe(script: str, run_dir: pathlib.Path | None, **asks: Any) -> None:
    """Run a script as `__main__` and record it in `run_dir`; None: record nothing.

    `asks` are further arguments of `Watch`.
    """
    stop = threading.Event()
    tf_config = os.environ.get("TF_CONFIG") or "{}"
    task, by_hand = task_of(tf_config), STOP_FD not in os.environ
    events = Events(None)
    if by_hand:
        stop_at_signals(stop)
    if run_dir is not None:
        path = pathlib.Path(script)
        if by_hand:
            refuse(path, run_dir)
        (run_dir / task).mkdir(parents=True, exist_ok=True)
        if by_hand or read_card(run_dir).get("by_hand"):
            hold(run_dir / task)
        is_told = by_hand and task == leader_of(tf_config)
        events = Events(run_dir / task, make_run(path, run_dir) if is_told else None)
        asked = run_dir / "stop" if is_told else None
        threading.Thread(target=listen, args=(stop, asked), daemon=True).start()
    keep_freed_memory()
    if SETS_LEGACY.search(pathlib.Path(script).read_text(errors="replace")):
        os.environ["TF_USE_LEGACY_KERAS"] = "1"  # which Keras is watched is decided before it runs
    with events.of_failures(task) if by_hand else contextlib.nullcontext():
        from .watch import Watch  # imports TensorFlow

        with Watch(run_dir, task, stop, tf_config, events, **asks) as watch:
            watch.event("imported")
            try:
                runpy.run_path(script, run_name="__main__")
            except SystemExit as end:
                if end.code or watch.stopped:
                    raise
            watch.finish()


def keep_freed_memory() -> None:
    """Let glibc keep freed memory.

    With input for several devices, TensorFlow makes glibc return it at once
    (generator_dataset_op.cc), which can double the time of a step.
    """
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(-3, 2**25)  # M_MMAP_THRESHOLD, in bytes
        libc.mallopt(-2, 2**28)  # M_TOP_PAD, in bytes


def listen(stop: threading.Event, asked: pathlib.Path | None = None) -> None:
    """Stop at a byte from the supervisor, or when its pipe closes because it died.

    Without a supervisor, the leading task stops once the file `asked` exists; the others agree.
    """
    if pipe := os.environ.get(STOP_FD):
        while os.read(int(pipe), 1):
            stop.set()
        stop.set()
        time.sleep(60)
        os._exit(1)
    while asked is not None and not stop.is_set():
        time.sleep(LOOK_SECONDS)
        if os.access(asked, os.F_OK):
            stop.set()


def stop_at_signals(stop: threading.Event) -> None:
    """Stop after the current call at Ctrl-C or SIGTERM; at the second one, end at once."""

    def ask(number: int, _: object) -> None:
        stop.set()
        signal.signal(number, before[number])
        print("Stopping after this call. Ask again to end at once.", file=sys.stderr, flush=True)

    both = signal.SIGINT, signal.SIGTERM
    before: dict[int, Any] = {each: signal.signal(each, ask) for each in both}


def leave_with(run: Callable[[], Any]) -> NoReturn:
    """Run a function, then end this process without closing its pipelines.

    TensorFlow can take a minute to close one: OptimizeLoop in model.cc sleeps on, because
    StartCancel in cancellation.cc wakes it before it tells it to end.
    """
    status: Any = 0
    try:
        run()
    except SystemExit as end:
        status = end.code or 0
    except BaseException as error:
        error.__traceback__ = without_observer(error)
        sys.excepthook(type(error), error, error.__traceback__)
        status = 130 if isinstance(error, KeyboardInterrupt) else 1
    if not isinstance(status, int):
        print(status, file=sys.stderr)
        status = 1
    vars(threading)["_shutdown"]()  # waits for threads, as Python does at its end
    atexit._run_exitfuncs()
    for stream in sys.stdout, sys.stderr:
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(status)
