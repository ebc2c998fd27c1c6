"""The button that starts a run, and its notes before the start."""

import dataclasses
import os
from pathlib import Path

import pytest

from tests.machines import LAPTOP
from tests.waiting import LIMIT_SECONDS, until
from tests.widgets.folders import write_run
from workbench import RunConfig, render_script
from workbench.plan import make_plan
from workbench.runs import Run, list_runs
from workbench.runs.folder.state import take_lock
from workbench.widgets.form import train_button
from workbench.widgets.form.form import Form, FormState
from workbench.widgets.form.train_button import TrainButton


def test_notes_on_the_plan_are_shown_next_to_the_button(tmp_path: Path) -> None:
    button = TrainButton(tmp_path, lambda: LAPTOP)
    config = RunConfig(strategy="parameter_server", loop="fit")
    plan = make_plan(config, LAPTOP)
    button.show_form(FormState(config, plan, ()), "")
    assert "DatasetCreator" in button._notes.value
    mirrored = make_plan(RunConfig(), LAPTOP)
    button.show_form(FormState(RunConfig(), mirrored, ()), "")
    assert button._notes.value == ""  # that one device sums the gradients is a part of the plan
    button.show_form(FormState(config, None, ()), "a problem")
    assert button._notes.value == ""
    button.close()


def test_a_problem_found_only_by_the_start_is_shown_next_to_its_field(tmp_path: Path) -> None:
    button, form = TrainButton(tmp_path, lambda: LAPTOP), Form(RunConfig(), LAPTOP)
    button.on_refused(form.show_refused)
    (archive,) = form.parts.named("archive")
    archive.control.value = str(tmp_path / "copies")
    button.show_form(form.state, "")
    button._train.click()
    until(lambda: "outside the folder of runs" in button._message.value)
    until(lambda: "outside the folder of runs" in archive.problems)
    archive.control.value = ""
    assert archive.problems == ""
    button.close()


def test_a_run_that_is_alive_is_named_before_a_second_one_starts(tmp_path: Path) -> None:
    living = write_run(tmp_path, "running", name="first")
    lock = take_lock(living.dir)
    assert lock is not None
    shown: list[str] = []
    button, form = TrainButton(tmp_path, lambda: LAPTOP), Form(RunConfig(), LAPTOP)
    button.on_show(lambda run: shown.append(run.id))
    try:
        button.show_form(form.state, "")
        button._train.click()
        until(lambda: button._question.box.children)
        question, answers = button._question.box.children
        assert f"first ({living.id}) is running." in question.value
        start, show, no = answers.children
        assert (start.description, no.description) == ("Start another run", "Do not start")
        show.click()
        start.click()  # a second answer to the same question
        assert shown == [living.id]
        assert button._question.box.children == ()
        assert not button._train.disabled
        button._train.click()
        until(lambda: button._question.box.children)
        (epochs,) = form.parts.named("epochs")
        epochs.control.value = "2"
        button.show_form(form.state, "")
        assert button._question.box.children == ()
        assert [run.id for run in list_runs(tmp_path)] == [living.id]
    finally:
        os.close(lock)
        button.close()


@pytest.mark.slow
def test_train_starts_the_script_with_the_edits_that_the_person_keeps(tmp_path: Path) -> None:
    button = TrainButton(tmp_path, lambda: LAPTOP)
    form = Form(RunConfig(epochs=1, synthetic_examples=640), LAPTOP)
    started: list[Run] = []
    button.on_started(started.append)
    button.on_script(lambda plan: f"{render_script(plan)}# mine\n")
    button.show_form(form.state, "")
    button._train.click()
    until(lambda: started)
    (run,) = started
    assert run.wait(LIMIT_SECONDS) == "finished", run.failure
    assert run.script.endswith("# mine\n")
    button.close()


def test_two_clicks_in_a_row_start_one_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[RunConfig] = []
    monkeypatch.setattr(train_button, "start_run", lambda config, *_: started.append(config))
    button, form = TrainButton(tmp_path, lambda: LAPTOP), Form(RunConfig(), LAPTOP)
    ended: list[object] = []
    button.on_started(ended.append)
    button.show_form(form.state, "")
    button._train.click()
    assert not button._train.disabled  # a disabled button loses the keyboard's focus
    button._train.click()
    until(lambda: ended)
    assert len(started) == 1
    button.close()


def test_a_tpu_is_not_taken_before_the_click(tmp_path: Path) -> None:
    button = TrainButton(tmp_path, lambda: dataclasses.replace(LAPTOP, tensorflow_for_tpus=True))
    button.edited(RunConfig())
    assert button._readiness._server is None
    button.close()
