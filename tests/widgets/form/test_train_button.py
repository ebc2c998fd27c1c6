"""The button that starts a run, and its notes before the start."""

import dataclasses
import os
from pathlib import Path

import pytest

from tests.machines import LAPTOP
from tests.waiting import until
from tests.widgets.folders import write_run
from tests.widgets.pages import part_of
from workbench import RunConfig
from workbench.plan import make_plan, rehearsed
from workbench.runs import list_runs
from workbench.runs.folder.state import take_lock
from workbench.widgets.form import train_button
from workbench.widgets.form.form import Form, FormState
from workbench.widgets.form.train_button import TrainButton


def test_notes_on_the_plan_are_shown_next_to_the_button(tmp_path: Path) -> None:
    button = TrainButton(tmp_path, lambda: LAPTOP)
    config = RunConfig(strategy="parameter_server", loop="fit")
    plan = make_plan(config, LAPTOP)
    button.show_form(FormState(config, plan, ()), "")
    assert "does not support parameter servers" in button._notes.value
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


def test_the_message_of_a_failed_start_goes_with_the_form_or_the_run_that_failed(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").touch()
    button, form = TrainButton(tmp_path / "file", lambda: LAPTOP), Form(RunConfig(), LAPTOP)
    line = part_of(button.messages, "Messages")
    (epochs,) = form.parts.named("epochs")
    train = button.buttons.children[0]

    def changes_the_form() -> None:
        epochs.control.value = "2"
        button.show_form(form.state, "")

    for goes_on in (changes_the_form, button.clear):
        button.show_form(form.state, "")
        train.click()
        until(lambda: "Problem:" in line.value)
        goes_on()
        assert line.value == ""
    button.close()


def test_a_rehearsal_says_what_it_runs_and_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[RunConfig] = []
    monkeypatch.setattr(train_button, "start_run", lambda config, *_: started.append(config))
    button, form = TrainButton(tmp_path, lambda: LAPTOP), Form(RunConfig(epochs=5), LAPTOP)
    (box,) = (part for part in button.messages.children if "wb-question" in part._dom_classes)
    ended: list[object] = []
    button.on_started(ended.append)
    button.show_form(form.state, "")
    rehearse = button.buttons.children[1]
    rehearse.click()
    question, answers = box.children
    assert "strategy MultiWorkerMirrored instead of Mirrored, workers 2" in question.value
    assert make_plan(rehearsed(RunConfig(epochs=5)), LAPTOP).arithmetic in question.value
    labels = [answer.description for answer in answers.children]
    assert labels == ["Rehearse 5 epochs", "Rehearse 1,000 epochs", "Do not start"]
    answers.children[2].click()
    assert box.children == ()
    for answer, epochs in ((0, 5), (1, 1_000)):
        rehearse.click()
        box.children[1].children[answer].click()
        until(lambda epochs=epochs: started and started[-1].epochs == epochs)
        until(lambda answer=answer: len(ended) == answer + 1)
    assert [config.strategy for config in started] == ["multi_worker_mirrored"] * 2
    button.close()


def test_a_rehearsal_that_cannot_be_planned_is_refused_before_the_question(tmp_path: Path) -> None:
    config = RunConfig(pipeline="numpy", global_batch_size=3)
    button, form = TrainButton(tmp_path, lambda: LAPTOP), Form(RunConfig(), LAPTOP)
    plan = make_plan(RunConfig(), LAPTOP)
    refused: list[object] = []
    button.on_refused(refused.extend)
    button.show_form(FormState(config, plan, ()), "")
    button.buttons.children[1].click()
    assert refused
    assert form.state.problems == ()
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
