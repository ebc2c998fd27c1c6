"""The actions on the opened run: one at a time, and a stranger's code only after a yes."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tests.waiting import until
from tests.widgets.folders import CONFIG, stopped_run, write_run
from workbench.config import RunConfig
from workbench.runs.consent import foreign_code
from workbench.widgets.parts.agreeing import NOT_AGREED, WAITS, Agreeing
from workbench.widgets.run.actions import RunActions
from workbench.widgets.run.predictions import Predictions
from workbench.widgets.run.verdict_view import WhySlow
from workbench.widgets.run.view import RunView
from workbench.widgets.run.xray_view import Xray
from workbench.widgets.scaling_view import ShouldScale


def test_an_action_during_another_action_is_refused_by_name() -> None:
    reports: list[tuple[str, str]] = []
    actions, gate = RunActions(lambda level, text: reports.append((level, text))), Event()
    actions._begin("Resuming", gate.wait, lambda _: None)
    actions._begin("Deleting", gate.wait, lambda _: None)
    refusal = "Still resuming. Try again in a moment."
    assert reports == [("info", "Resuming ..."), ("error", refusal)]
    gate.set()
    until(lambda: reports[-1] == ("info", ""))
    actions._begin("Deleting", gate.wait, lambda _: None)
    assert ("info", "Deleting ...") in reports


def question(agreeing: Agreeing) -> tuple[str, str, Any, Any]:
    """Wait for the question; return its text, the shown script, and the buttons for yes and no."""
    asked, script, keys = until(lambda: agreeing.box.children)
    return asked.value, script.value, *keys.children


def test_a_click_on_resume_executes_the_code_of_a_run_from_elsewhere_only_after_a_yes(
    tmp_path: Path,
) -> None:
    run = write_run(tmp_path)
    (run.dir / "train.py").write_text(run.script + "# <b>evil</b>\n")
    reports: list[tuple[str, str]] = []
    actions = RunActions(lambda level, text: reports.append((level, text)))
    actions.act(run, "resume")
    asked, script, _, no = question(actions.agreeing)
    assert f"would run {json.loads((run.dir / 'run.json').read_text())['interpreter']} in" in asked
    assert "# &lt;b&gt;evil&lt;/b&gt;" in script
    until(lambda: reports[-1] == ("info", WAITS))
    no.click()
    assert reports[-1] == ("error", NOT_AGREED)
    assert actions.agreeing.box.children == ()
    actions.act(run, "resume")
    question(actions.agreeing)[2].click()
    until(lambda: "has finished all its epochs" in reports[-1][1])
    assert actions.agreeing.box.children == ()


def test_a_person_who_agrees_to_code_that_has_changed_is_asked_again(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    actions = RunActions(lambda level, text: None)
    actions.act(run, "resume")
    first, _, yes, _ = question(actions.agreeing)
    card = json.loads((run.dir / "run.json").read_text())
    (run.dir / "run.json").write_text(json.dumps({**card, "interpreter": "/evil/python"}))
    yes.click()
    assert "/evil/python" not in first
    assert "/evil/python" in question(actions.agreeing)[0]


def test_the_question_ends_when_another_run_is_opened(tmp_path: Path) -> None:
    view, asked = RunView(), write_run(tmp_path)
    view.open(asked)
    view.actions.act(asked, "resume")
    question(view.actions.agreeing)
    assert view.actions.agreeing.box in view.box.children
    view.open(write_run(tmp_path))
    assert view.actions.agreeing.box.children == ()
    view.end()


def test_the_settings_of_a_run_from_elsewhere_that_name_code_are_used_only_after_a_yes(
    tmp_path: Path,
) -> None:
    config = replace(CONFIG, interpreter="/evil/python")
    run, used = write_run(tmp_path, config=config), list[RunConfig]()
    reports: list[tuple[str, str]] = []
    actions = RunActions(lambda level, text: reports.append((level, text)))
    actions.on_settings(used.append)
    actions.act(run, "settings")
    assert used == []
    asked, script, _, no = question(actions.agreeing)
    assert "executes the code that the run's settings name" in asked.replace("&#x27;", "'")
    assert "# interpreter: /evil/python" in script
    no.click()
    assert (used, reports[-1]) == ([], ("error", NOT_AGREED))
    actions.act(run, "settings")
    question(actions.agreeing)[2].click()
    assert used == [config]
    assert reports[-1] == ("info", f"The form shows the settings of {run.title}.")


def test_the_settings_of_a_run_from_elsewhere_that_name_no_code_are_used_at_once(
    tmp_path: Path,
) -> None:
    run, used = write_run(tmp_path), list[RunConfig]()
    actions = RunActions(lambda level, text: None)
    actions.on_settings(used.append)
    actions.act(run, "settings")
    assert used == [run.config]
    assert actions.agreeing.box.children == ()


EXAMINED: dict[str, tuple[Callable[[], Any], str]] = {
    "an evaluation": (Predictions, "_evaluate"),
    "an X-ray": (Xray, "_ask"),
    "a timing": (lambda: WhySlow(print, str), "_find"),
    "a noise scale": (ShouldScale, "_measure"),
}


@pytest.mark.parametrize("name", EXAMINED)
def test_a_page_executes_the_code_of_a_run_from_elsewhere_only_after_a_yes(
    name: str, tmp_path: Path
) -> None:
    kind, key = EXAMINED[name]
    page, run = kind(), stopped_run(tmp_path)
    page.show(run, "stopped")
    getattr(page, key).click()
    code = foreign_code(run.dir)
    assert code is not None
    asked, script, _, no = question(page._agreeing)
    assert code.digest in asked
    assert "def make_strategy" in script
    assert page._agreeing.box in page.box.children
    assert not getattr(page, key).disabled
    no.click()
    assert page._agreeing.box.children == ()
    assert not getattr(page, key).disabled


def test_code_that_a_person_agreed_to_is_executed_without_another_question_until_it_changes(
    tmp_path: Path,
) -> None:
    run, reports = write_run(tmp_path), list[tuple[str, str]]()
    agreeing = Agreeing(lambda level, text: reports.append((level, text)))
    done: list[int] = []
    agreeing.before(run, lambda: done.append(1))
    assert done == []
    question(agreeing)[2].click()
    agreeing.before(run, lambda: done.append(2))
    assert done == [1, 2]
    (run.dir / "train.py").write_text(run.script + "# more\n")
    agreeing.before(run, lambda: done.append(3))
    assert "# more" in question(agreeing)[1]
    (run.dir / "numpy.py").touch()
    question(agreeing)[2].click()
    assert done == [1, 2]
    assert "executes more than its script: numpy.py" in reports[-1][1]
