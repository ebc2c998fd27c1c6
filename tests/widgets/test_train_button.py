"""The button that starts a run, and what is to be known before."""

from pathlib import Path

from tests.machines import LAPTOP
from workbench import RunConfig
from workbench.plan import make_plan
from workbench.widgets.form import FormState
from workbench.widgets.train_button import TrainButton


def test_what_is_to_be_known_before_the_start_stands_beside_it(tmp_path: Path) -> None:
    button = TrainButton(tmp_path, lambda: LAPTOP)
    config = RunConfig(strategy="parameter_server", loop="fit")
    plan = make_plan(config, LAPTOP)
    button.show_form(FormState(config, plan, ()), "")
    assert "DatasetCreator" in button._notes.value
    button.show_form(FormState(config, None, ()), "a problem")
    assert button._notes.value == ""
    button.close()
