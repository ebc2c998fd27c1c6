"""The opened run in the kernel: followed to its end, unreadable runs reported, help for hosts."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import LIMIT_SECONDS, until
from tests.widgets.folders import write_run
from tests.widgets.pages import part_of
from workbench.runs.folder.state import take_lock
from workbench.widgets.kernel import host
from workbench.widgets.run import view as run_view
from workbench.widgets.run.plain_view import epoch_table, head
from workbench.widgets.run.view import RunView
from workbench.widgets.run.widget import RunWidget


def test_a_finished_run_is_shown_to_its_end(tmp_path: Path) -> None:
    states: list[str] = []
    view = RunView()
    view.on_summary(
        lambda summary, feed: states.append(f"{summary.status} {len(feed.curves()[0].step)}")
    )
    view.open(write_run(tmp_path))
    assert view.wait(LIMIT_SECONDS)
    assert states[-1] == "finished 156"
    view.end()
    assert view.run is None


def test_the_plain_view_shows_the_stage_of_a_run_that_starts(tmp_path: Path) -> None:
    run = write_run(tmp_path, "starting", steps=0)
    lock = take_lock(run.dir)
    assert lock is not None
    try:
        assert "(0%), Starting the processes</div>" in head(run.summary)
    finally:
        os.close(lock)
    assert "Starting the processes" not in head(run.summary)


def test_the_plain_view_shows_the_result_of_an_action_until_the_state_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_view, "ANSWER_SECONDS", 0.0)
    run = write_run(tmp_path, "running", 10)
    lock = take_lock(run.dir)
    assert lock is not None
    view = RunView()
    states: list[str] = []
    view.on_summary(lambda summary, _: states.append(summary.status))
    message = part_of(view.box, "Messages of the run view")

    def state(name: str) -> None:
        with (run.dir / "events.jsonl").open("a") as file:
            file.write(json.dumps({"time": time.time(), "event": "state", "state": name}) + "\n")

    try:
        view.open(run)
        until(lambda: view.box.children[2].children)
        view.actions.act(run, "stop")
        assert "Asked to stop" in message.value
        state("stopping")
        until(lambda: message.value == "")
        view.actions.act(run, "kill", task="worker-0")
        state("failed")
        until(lambda: states[-1] == "failed")
        assert "Problem:" in message.value
        state("queued")
        until(lambda: message.value == "")
    finally:
        view.end()
        os.close(lock)


def test_a_run_with_an_unreadable_plan_is_reported_and_not_opened(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    (run.dir / "plan.json").write_text("{")
    view = RunView()
    view.open(run)
    assert view.run is None
    assert "plan.json" in view._message.value
    view.end()


def test_a_run_resumed_elsewhere_is_followed_again(tmp_path: Path) -> None:
    run = write_run(tmp_path, "stopped", steps=10)
    states: list[str] = []
    view = RunView()
    view.on_summary(lambda summary, _: states.append(summary.status))
    view.open(run)
    assert view.wait(LIMIT_SECONDS)
    with (run.dir / "events.jsonl").open("a") as file:
        file.write(f'{{"time": {time.time()}, "event": "state", "state": "finished"}}\n')
    until(lambda: states[-1] == "finished")
    view.end()


def test_while_a_cell_runs_the_complete_state_is_sent_to_pages_that_cannot_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(RunWidget, "send", lambda _, content, *__: sent.append(content))
    monkeypatch.setattr(host.CellClock, "idle_since", None)
    view = RunView()
    view.open(write_run(tmp_path))
    assert view.wait(LIMIT_SECONDS)
    assert [message["whole"] for message in sent if message["parts"]] == [True]
    view.end()


@pytest.mark.parametrize(
    ("variable", "name"),
    [
        ("COLAB_RELEASE_TAG", "Colab"),
        ("KAGGLE_KERNEL_RUN_TYPE", "Kaggle"),
        ("VSCODE_PID", "VS Code"),
    ],
)
def test_each_host_has_its_own_help(
    monkeypatch: pytest.MonkeyPatch, variable: str, name: str
) -> None:
    for other in ("COLAB_RELEASE_TAG", "KAGGLE_KERNEL_RUN_TYPE", "VSCODE_PID"):
        monkeypatch.delenv(other, raising=False)
    assert host.host() == "Jupyter"
    monkeypatch.setenv(variable, "1")
    assert host.host() == name
    assert len({host.HELP[known] for known in host.HELP}) == len(host.HELP) == 4


def test_a_number_that_no_epoch_knows_has_no_column() -> None:
    known = {"epoch": 2, "step": 10, "loss": 0.5, "accuracy": None, "metrics": {"energy": 1.5}}
    shown = epoch_table([{"epoch": 1, "step": 5, "loss": None, "accuracy": None}, known])
    assert re.findall(r"<th [^>]*>(.*?)</th>", shown) == ["Epoch", "Step", "Loss", "energy"]
    assert shown.count("unknown") == 2
