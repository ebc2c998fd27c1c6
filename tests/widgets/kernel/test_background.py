"""Threads of the views end before the interpreter ends, and before what they need ends."""

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.waiting import LIMIT_SECONDS

PROCESSES, SIDE_BY_SIDE = 20, 4
LEAVE_AT_ONCE = "from workbench import Workbench; Workbench(runs_dir={runs!r})"
DRAW_TO_THE_END = """
import threading
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from workbench.widgets.kernel.background import start_thread

stop, drawing = threading.Event(), threading.Event()

def draw():
    while not stop.is_set():
        figure = Figure()
        figure.subplots().plot(range(10_000))
        FigureCanvasAgg(figure).draw()
        drawing.set()
    print("ended")

start_thread(draw, "drawing", stop.set)
drawing.wait()
"""
SEND_AT_THE_END = """
import threading
import zmq
from workbench.widgets.kernel.background import start_thread

context, ending = zmq.Context(), threading.Event()
pull, push = context.socket(zmq.PULL), context.socket(zmq.PUSH)
pull.bind("inproc://large")
push.connect("inproc://large")

def send():
    ending.wait()
    push.send(bytes(1_000_000), copy=False)
    print(len(pull.recv()), "bytes")

start_thread(send, "sending", ending.set)
import zmq.utils.garbage
"""
WAIT_FOR_EVER = """
import threading
from workbench.widgets.kernel.background import start_thread, waiting

started = threading.Event()

def wait():
    with waiting():
        started.set()
        threading.Event().wait()

start_thread(wait, "waiting")
started.wait()
"""
WORK_TO_THE_END = """
import threading
from workbench.widgets.kernel.background import run_in_background

stop, started = threading.Event(), threading.Event()

def work():
    started.set()
    stop.wait()
    return "stopped"

run_in_background(work, print, print, stop.set)
started.wait()
"""
NOT_SHOWN = """
from workbench.widgets.kernel.background import Latest, run_in_background

def show(result):
    raise ValueError(f"cannot show {result}")

run_in_background(lambda: 1, show, print).join()
latest, outcomes = Latest(), []
latest.ask(lambda: 2, show, lambda error: outcomes.append(str(error)))
while not outcomes:
    pass
latest.ask(lambda: 3, outcomes.append, outcomes.append)
while len(outcomes) < 2:
    pass
print(outcomes)
"""
OVERTAKEN = """
import threading
from workbench.widgets.kernel.background import Latest

latest, done = Latest(settle_seconds=1e6), []
latest.ask(lambda: 1, done.append, done.append)
while not latest._asked._waiters:
    pass
latest.forget()
while threading.active_count() > 1:
    pass
print(done)
"""


def begin(code: str) -> subprocess.Popen[str]:
    """Start a process that runs this code."""
    command = [sys.executable, "-c", code]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True)


def ended_well(processes: Iterable[subprocess.Popen[str]]) -> list[str]:
    """Return the output of each process; check that it ended by itself without an error."""
    printed = []
    for process in processes:
        output, errors = process.communicate(timeout=LIMIT_SECONDS)
        assert process.returncode == 0, errors
        assert "Traceback" not in errors
        printed.append(output)
    return printed


def test_a_drawing_thread_is_asked_to_end_and_waited_for() -> None:
    assert ended_well([begin(DRAW_TO_THE_END)]) == ["ended\n"]


def test_a_thread_sends_a_large_message_while_the_process_ends() -> None:
    assert ended_well([begin(SEND_AT_THE_END)]) == ["1000000 bytes\n"]


def test_long_work_is_asked_to_stop_and_waited_for() -> None:
    assert ended_well([begin(WORK_TO_THE_END)]) == ["stopped\n"]


def test_a_thread_that_waits_for_others_is_not_waited_for() -> None:
    ended_well([begin(WAIT_FOR_EVER)])


def test_an_error_of_the_callback_is_reported_and_the_next_request_is_done() -> None:
    printed = ["cannot show 1\n['cannot show 2', 3]\n"]
    assert ended_well([begin(NOT_SHOWN)]) == printed


def test_a_request_dropped_while_it_settles_ends_its_thread() -> None:
    assert ended_well([begin(OVERTAKEN)]) == ["[]\n"]


@pytest.mark.slow
def test_workbenches_whose_process_ends_immediately_end_without_errors(tmp_path: Path) -> None:
    code = LEAVE_AT_ONCE.format(runs=str(tmp_path))
    for _ in range(PROCESSES // SIDE_BY_SIDE):
        ended_well([begin(code) for _ in range(SIDE_BY_SIDE)])
