"""A function of the notebook as the data: inspected in the background, then planned or refused."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.capture.notebook import Notebook, opened
from tests.machines import LAPTOP
from tests.waiting import until
from workbench import RunConfig, render_script
from workbench.widgets.form.form import LOOKING, Form
from workbench.widgets.form.notebook_function import NotebookFunction
from workbench.widgets.plan_view import PlanView

pytestmark = pytest.mark.slow

SIZES = """
import numpy as np

FEATURES, EXAMPLES = 6, 300
"""
DATA = """
def load_data():
    features = np.ones((EXAMPLES, FEATURES))
    return (features, features[:, 0]), (features[:64], features[:64, 0])
"""
MODEL = """
def build_model():
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.Input([FEATURES]), tf.keras.layers.Dense(1)])
    model.compile("sgd", loss="mse")
    return model
"""


@pytest.fixture
def notebook() -> Iterator[Notebook]:
    with opened() as notebook:
        notebook.run(SIZES, DATA, MODEL)
        yield notebook


@pytest.fixture
def form(notebook: Notebook, tmp_path: Path) -> Form:
    names = {"data": "load_data", "model": "build_model"}
    functions = {
        field: NotebookFunction(notebook[name], field, tmp_path) for field, name in names.items()
    }
    addresses = {field: function.address() for field, function in functions.items()}
    return Form(RunConfig(**addresses), LAPTOP, functions)


def test_during_the_inspection_there_is_neither_a_plan_nor_a_problem(form: Form) -> None:
    assert form.state.looking
    assert form.state.plan is None
    assert form.state.problems == ()
    assert form.reason == LOOKING
    plan_view = PlanView()
    plan_view.show(form.state)
    assert "being counted" in plan_view._numbers.value


def test_the_plan_has_its_examples_and_the_script_has_its_text(form: Form) -> None:
    plan = until(lambda: form.state.plan)
    assert not form.state.looking
    assert (plan.num_train_examples, plan.num_test_examples) == (300, 64)
    assert plan.element_spec == "a replica's batch: 64 x features (6,) float32, labels () float32"
    script = render_script(plan)
    assert DATA.strip() in script
    assert script.count("\nEXAMPLES = 300") == script.count("\nFEATURES = 6") == 1
    assert script.count("import numpy as np") == 1


def test_fields_without_use_for_it_are_hidden(form: Form) -> None:
    until(lambda: form.state.plan)
    for name in ("data_dir", "synthetic_noise", "learning_rate"):
        (field,) = form.parts.named(name)
        assert field.box.layout.display == "none"


def test_the_data_is_inspected_again_after_its_cell_ran_again(
    form: Form, notebook: Notebook
) -> None:
    until(lambda: form.state.plan)
    notebook.run("EXAMPLES = 200")
    form.refresh()
    assert form.state.looking
    assert until(lambda: form.state.plan).num_train_examples == 200


def test_its_error_is_shown_next_to_the_field_until_it_is_fixed(
    form: Form, notebook: Notebook
) -> None:
    notebook.run("def load_data():\n    raise FileNotFoundError('no /data/images')")
    form.refresh()
    (problem,) = until(lambda: form.state.problems)
    assert problem.field == "data"
    (field,) = form.parts.named("data")
    assert "FileNotFoundError: no /data/images" in field.problems
    assert form.state.plan is None
    notebook.run(DATA)
    form.refresh()
    assert until(lambda: form.state.plan)


def test_a_fix_outside_of_it_is_found_after_a_cell_has_run(
    form: Form, notebook: Notebook, tmp_path: Path
) -> None:
    sizes = tmp_path / "examples.txt"
    notebook.run(
        f"""
def load_data():
    features = np.ones((int(open({str(sizes)!r}).read()), FEATURES))
    return (features, features[:, 0]), (features[:64], features[:64, 0])
"""
    )
    form.refresh()
    assert "FileNotFoundError" in until(lambda: form.state.problems)[0].got
    sizes.write_text("200")
    form.refresh()
    assert until(lambda: form.state.plan).num_train_examples == 200


def test_another_choice_during_the_inspection_is_planned_immediately(form: Form) -> None:
    form.write(RunConfig())
    assert form.state.plan is not None
    assert not form.state.looking
