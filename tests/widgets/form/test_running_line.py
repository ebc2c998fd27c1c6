"""The line of a living run: it shows progress and stops the run, and is hidden after the end."""

from __future__ import annotations

import os
from pathlib import Path

from tests.widgets.folders import write_run
from workbench.runs import Progress
from workbench.runs.folder.state import take_lock
from workbench.runs.supervise.stage import Stage
from workbench.widgets.form.running_line import RunningLine, progress_line

PROGRESS = Progress(1200, 4800, 2, 5, 40.0, 2560.0, 90.0, "training")


def test_shows_phase_epoch_steps_and_time_left() -> None:
    line = progress_line(PROGRESS)
    assert "training, epoch 2 of 5, step 1,200 of 4,800, 1 min 30 s left" in line
    assert "width:25.0%" in line


def test_a_run_that_starts_shows_its_stage_instead_of_its_phase() -> None:
    line = progress_line(Progress(0, 4800, 1, 5, None, None, None, "tracing", Stage("data")))
    assert "Loading the data, epoch 1 of 5, step 0 of 4,800" in line
    assert "tracing" not in line


def test_an_unknown_time_is_left_out() -> None:
    assert "left" not in progress_line(Progress(0, 4800, 1, 5, None, None, None, "tracing"))


def test_stop_is_shown_while_the_run_is_alive(tmp_path: Path) -> None:
    stops: list[bool] = []
    line = RunningLine(lambda: stops.append(True))
    assert line.box.layout.display == "none"
    run = write_run(tmp_path, "running", steps=40)
    lock = take_lock(run.dir)
    assert lock is not None
    try:
        line.show(run.summary)
        assert line.box.layout.display is None
        assert "step 40 of 156" in line.box.children[0].value
        line.stop.click()
        assert stops == [True]
    finally:
        os.close(lock)
    line.show(run.summary)
    assert line.box.layout.display == "none"


def test_no_run_shows_no_line(tmp_path: Path) -> None:
    line = RunningLine(lambda: None)
    line.show(write_run(tmp_path).summary)
    assert line.box.layout.display == "none"
    line.show(None)
    assert line.box.layout.display == "none"
