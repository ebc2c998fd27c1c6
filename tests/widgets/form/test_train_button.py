"""The button that starts a run, and its notes before the start."""

import dataclasses
from pathlib import Path

from tests.machines import LAPTOP
from tests.waiting import until
from workbench import RunConfig
from workbench.plan import make_plan
from workbench.widgets.form.form import Form, FormState
from workbench.widgets.form.train_button import TrainButton


def test_notes_on_the_plan_are_shown_next_to_the_button(tmp_path: Path) -> None:
    button = TrainButton(tmp_path, lambda: LAPTOP)
    config = RunConfig(strategy="parameter_server", loop="fit")
    plan = make_plan(config, LAPTOP)
    button.show_form(FormState(config, plan, ()), "")
    assert "DatasetCreator" in button._notes.value
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
    until(lambda: "outside the folder of runs" in archive.box.children[-1].value)
    archive.control.value = ""
    assert archive.box.children[-1].value == ""
    button.close()


def test_a_tpu_is_not_taken_before_the_click(tmp_path: Path) -> None:
    button = TrainButton(tmp_path, lambda: dataclasses.replace(LAPTOP, tensorflow_for_tpus=True))
    button.edited(RunConfig())
    assert button._readiness._server is None
    button.close()
