"""Programs beside training: what was asked to stop is ended, and no process is left."""

from pathlib import Path

import psutil
import pytest

from tests.widgets.folders import write_run
from workbench.runs.directory import StoppedError
from workbench.runs.programs import run_programs
from workbench.runs.serving import serving


def test_one_that_is_to_stop_is_ended(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    asked = iter([False, True])
    with pytest.raises(StoppedError, match=r"step_times .* it was stopped\. Ask again\."):
        run_programs(run.dir, "step_times", "1", "9", stopped=lambda: next(asked))
    assert psutil.Process().children() == []


def test_no_answer_is_waited_for_after_a_stop(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    with (
        serving(run.dir, "step_times", "1", "serve", stopped=lambda: True) as served,
        pytest.raises(StoppedError, match=r"it was stopped\. Ask again\."),
    ):
        served.first()
    assert psutil.Process().children() == []
