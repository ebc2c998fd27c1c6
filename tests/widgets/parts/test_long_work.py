"""Long work on request: its progress, stopping it, abandoning it, one job at a time."""

from __future__ import annotations

import time
from threading import Event

import pytest

from tests.waiting import until
from workbench.plan import PlanError, Problem
from workbench.runs import RunError
from workbench.runs.folder.files import StoppedError
from workbench.widgets.kernel.background import ONE_TENSORFLOW
from workbench.widgets.parts.long_work import LongWork, OnProgress, Stopped, progress


def until_stopped(on_progress: OnProgress, stopped: Stopped) -> None:
    """Work until a stop is requested."""
    on_progress("Timing steps", 90.0)
    until(stopped)
    raise StoppedError("It was stopped.")


def test_progress_is_shown_and_then_the_result() -> None:
    busy, results, gate = list[bool](), list[int](), Event()
    work = LongWork("timing", busy.append)
    assert work.button.layout.display == "none"

    def measure(on_progress: OnProgress, stopped: Stopped) -> int:
        on_progress("Timing <b>steps</b>", 90.0)
        gate.wait()
        return 7

    work.begin(measure, results.append)
    assert work.busy
    work.begin(measure, results.append)  # a second click before the button was disabled
    assert busy == [True]
    until(lambda: "Timing &lt;b&gt;steps&lt;/b&gt;; about 1 min" in work.state.value)
    assert work.button.layout.display is None
    gate.set()
    assert until(lambda: results) == [7]
    assert busy == [True, False]
    assert work.state.value == ""
    assert work.button.layout.display == "none"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (RunError("No <b>calls</b>. Train first."), ["No &lt;b&gt;calls&lt;/b&gt;. Train first."]),
        (
            PlanError([Problem("epochs", "above 0", "0", "Type 1."),
                       Problem("workers", "above 0", "0", "Type 2.")]),
            ["Type 1.", "Type 2."],
        ),
    ],
)  # fmt: skip
def test_a_failure_is_shown_with_each_of_its_problems(error: Exception, words: list[str]) -> None:
    def fail(on_progress: OnProgress, stopped: Stopped) -> None:
        raise error

    busy = list[bool]()
    work = LongWork("timing", busy.append)
    work.begin(fail, lambda _: pytest.fail("it failed"))
    until(lambda: busy == [True, False])
    assert work.state.value.count("Problem: ") == len(words)
    for each in words:
        assert each in work.state.value


def test_a_click_stops_the_work_and_is_answered_immediately() -> None:
    ending, busy = Event(), list[bool]()

    def measure(on_progress: OnProgress, stopped: Stopped) -> None:
        ending.wait()
        until_stopped(on_progress, stopped)

    work = LongWork("timing", busy.append)
    work.begin(measure, lambda _: pytest.fail("it was stopped"))
    work.button.click()
    assert "Stopping ..." in work.state.value
    assert work.button.disabled
    ending.set()
    until(lambda: busy == [True, False])
    assert "Stopped." in work.state.value
    assert work.button.layout.display == "none"


def test_nothing_is_shown_of_abandoned_work() -> None:
    results, ended = list[int](), Event()

    def measure(on_progress: OnProgress, stopped: Stopped) -> int:
        until(stopped)
        on_progress("Timing steps", 5.0)
        ended.set()
        return 7

    work = LongWork("timing", lambda busy: None)
    work.begin(measure, results.append)
    work.give_up()
    work.say("Another run")
    ended.wait()
    with ONE_TENSORFLOW:  # wait until the work has ended
        assert "Another run" in work.state.value
    assert results == []
    assert not work.busy


def test_work_waits_until_no_other_view_uses_tensorflow() -> None:
    work, results = LongWork("timing", lambda busy: None), list[int]()
    with ONE_TENSORFLOW:
        work.begin(lambda on_progress, stopped: 7, results.append)
        until(lambda: "Waiting for other TensorFlow work ..." in work.state.value)
        work.button.click()
        until(lambda: "Stopped." in work.state.value)
    assert results == []


def test_the_time_left_is_shown_if_it_is_known() -> None:
    assert progress("Timing", None) == "Timing ..."
    assert progress("Timing", time.monotonic() + 3600) == "Timing; about 1 h 0 min left ..."
    assert progress("Timing", time.monotonic() - 1) == (
        "Timing; this takes longer than expected ..."
    )
