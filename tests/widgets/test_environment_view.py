"""The environment view: the offer, the build after a click, its progress, cancelling, the use."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.environments import stand_ins
from tests.machines import LAPTOP
from tests.waiting import until
from workbench import RunConfig, Workbench
from workbench.environments import BUILDS, Progress
from workbench.widgets.environment_view import EnvironmentView, progress_text

TPU_VM = dataclasses.replace(LAPTOP, tpu_chips=1, tpu_kind="v5e", tensorflow_version=None)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """A folder with wheels of stand-ins instead of the package index, and a build of a stand-in."""
    monkeypatch.setenv("WORKBENCH_ENVIRONMENTS", str(tmp_path / "environments"))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    (tmp_path / "wheels").mkdir()  # uv wants a folder
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setitem(BUILDS, "tpu", stand_ins.tpu_build())
    return lambda behaviour: stand_ins.write_wheel(tmp_path / "wheels", behaviour)


def shown(control: Any) -> bool:
    return control.layout.display != "none"


def words(html: Any) -> str:
    return re.sub(r"<[^>]+>", " ", html.value)


def offered() -> EnvironmentView:
    view = EnvironmentView()
    view.offer(TPU_VM)
    return view


def test_an_environment_is_offered_for_chips_without_tensorflow_with_its_costs() -> None:
    view = offered()
    assert shown(view._make)
    assert view._make.description == "Make a TPU environment"
    about = words(view._state)
    assert "TensorFlow 2.20.0 for TPUs" in about
    assert "the packages of the kernel stay as they are" in about
    assert "2 GiB" in about


def test_no_environment_is_offered_if_nothing_is_missing() -> None:
    view = offered()
    view.offer(LAPTOP)
    assert not shown(view._make)
    assert not shown(view._cancel)
    assert view._state.value == ""


@pytest.mark.slow
def test_a_click_makes_an_environment_and_passes_its_interpreter_on(
    index: Callable[[str], None],
) -> None:
    index(stand_ins.HELD)
    view, made = offered(), list[str]()
    view.on_made(made.append)
    view._make.click()
    assert not shown(view._make)
    assert shown(view._cancel)
    until(lambda: made)
    assert Path(made[0]).exists()
    assert f"Runs now use {made[0]} (made in " in words(view._message)
    assert "Another process is using the TPU" in words(view._message)


@pytest.mark.slow
def test_a_failure_is_shown_and_the_build_can_be_tried_again(index: Callable[[str], None]) -> None:
    view = offered()
    view._make.click()
    until(lambda: shown(view._make))
    assert "must have wheels for this Python" in words(view._message)
    index(stand_ins.LOADED)
    made = list[str]()
    view.on_made(made.append)
    view._make.click()
    until(lambda: made)
    assert "must have wheels" not in words(view._message)


@pytest.mark.slow
def test_cancel_stops_the_build(index: Callable[[str], None], tmp_path: Path) -> None:
    index(stand_ins.LOADED)
    view = offered()
    view._make.click()
    view._cancel.click()
    assert view._cancel.disabled
    until(lambda: shown(view._make))
    assert "the unfinished environment was removed" in words(view._state)
    assert list((tmp_path / "environments").glob("[!.]*")) == []


def test_progress_shows_step_time_and_the_last_line_of_the_tool_escaped() -> None:
    shown_text = progress_text(Progress(3, 4, "installing x", "<b>Collecting</b>", 75.0))
    assert "Step 3 of 4, installing x (1 min 15 s so far)" in shown_text
    assert "&lt;b&gt;Collecting" in shown_text


@pytest.mark.slow
def test_the_workbench_uses_the_environment_for_runs_and_detects_its_devices(
    index: Callable[[str], None], tmp_path: Path
) -> None:
    index(stand_ins.LOADED)
    workbench = Workbench(RunConfig(epochs=7), tmp_path / "runs")
    try:
        view = workbench._hardware.environment
        until(lambda: not workbench._hardware._refresh.disabled)
        view.offer(TPU_VM)
        view._make.click()
        until(lambda: workbench.config.interpreter is not None)
        until(lambda: workbench._hardware.devices.interpreter == workbench.config.interpreter)
        assert workbench._hardware.devices.tensorflow_version == stand_ins.VERSION
        assert workbench.config.epochs == 7
    finally:
        workbench.close()
