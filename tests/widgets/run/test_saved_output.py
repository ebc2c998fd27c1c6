"""What a notebook's file says of a run: a state, always with its moment."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import until
from tests.widgets.folders import write_run
from workbench.feed import RunFeed, parts_of
from workbench.runs import Run, Summary, open_run
from workbench.runs.folder.state import take_lock
from workbench.widgets.kernel import outputs
from workbench.widgets.run.saved_output import SavedView, saved_bundle

MOMENT = r"\d\d \w{3} \d{4}, \d\d:\d\d:\d\d"


def seen(run: Run) -> tuple[Summary, RunFeed]:
    feed = RunFeed(run)
    summary = run.summary
    feed.news(parts_of(run, summary))
    return summary, feed


def text_of(run: Run) -> str:
    return str(saved_bundle("0a1b2c3d", *seen(run))["text/html"])


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The outputs of the cell, in order."""
    found: list[str] = []

    def send(bundle: dict[str, Any], display_id: str) -> None:
        found.append(bundle["text/html"])

    monkeypatch.setattr(outputs, "show_bundle", send)
    monkeypatch.setattr(outputs, "update_bundle", send)
    return found


def fail(error: Exception) -> None:
    raise error


def test_the_state_has_its_moment_and_a_run_in_progress_the_command_that_shows_it_now(
    tmp_path: Path,
) -> None:
    run = write_run(tmp_path / "my runs", "queued", steps=0)
    lock = take_lock(run.dir)
    assert lock is not None
    try:
        text = text_of(run)
    finally:
        os.close(lock)
    assert re.search(f"<h4>.*: queued, as of {MOMENT}</h4>", text)
    assert "may have gone on since then" in text
    assert f"workbench runs show &#x27;{run.dir}&#x27;" in text
    assert "<img" not in text


def test_test_results_are_shown_of_runs_that_are_tested(tmp_path: Path) -> None:
    run = write_run(tmp_path, "finished")
    assert "<td>Test accuracy</td>" in text_of(run)
    path = run.dir / "plan.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "num_test_examples": 0}))
    assert "<td>Test accuracy</td>" not in text_of(open_run(run.dir))


def test_an_ended_run_has_its_moment_and_its_picture(tmp_path: Path) -> None:
    text = text_of(write_run(tmp_path, "finished"))
    assert re.search(f"<h4>.*: finished, as of {MOMENT}</h4>", text)
    assert "gone on" not in text
    assert text.count("<img") == 1


def test_each_new_state_is_saved_and_sent_again_to_a_later_page(
    tmp_path: Path, sent: list[str]
) -> None:
    run, view = write_run(tmp_path, "stopped", steps=10), SavedView(fail)
    view.follow(*seen(run))
    view.show()
    until(lambda: "stopped, as of" in sent[-1])
    count = len(sent)
    view.follow(*seen(run))
    with (run.dir / "events.jsonl").open("a") as file:
        file.write('{"time": 1.0, "event": "state", "state": "finished"}\n')
    view.follow(*seen(run))
    until(lambda: "finished, as of" in sent[-1])
    assert len(sent) == count + 1
    view.send_again()
    assert sent[-1] == sent[-2]
    view.forget()
    until(lambda: "had no run open" in sent[-1])


def test_the_output_of_the_cell_is_not_sent_again_before_a_run(
    tmp_path: Path, sent: list[str]
) -> None:
    view = SavedView(fail)
    view.show()
    view.send_again()
    view.follow(*seen(write_run(tmp_path)))
    until(lambda: "finished, as of" in sent[-1])
    assert len(sent) == 2


def test_nothing_is_sent_by_a_workbench_that_is_not_shown(tmp_path: Path, sent: list[str]) -> None:
    view = SavedView(fail)
    view.follow(*seen(write_run(tmp_path)))
    view.send_again()
    assert sent == []
