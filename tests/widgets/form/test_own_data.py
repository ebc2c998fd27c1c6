"""A function of the notebook as the data: looked at in the background, planned with, or refused."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.capture.notebook import Notebook, opened
from tests.machines import LAPTOP
from tests.waiting import until
from workbench import RunConfig, render_script
from workbench.widgets.form.form import LOOKING, Form, problems_text
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


def test_while_it_is_looked_at_there_is_neither_a_plan_nor_a_problem(form: Form) -> None:
    assert form.state.looking
    assert form.state.plan is None
    assert form.state.problems == ()
    assert problems_text(form.state, form.parts) == LOOKING
    plan_view = PlanView()
    plan_view.show(form.state)
    assert "being counted" in plan_view._numbers.value


def test_its_examples_are_planned_with_and_its_text_is_in_the_script(form: Form) -> None:
    plan = until(lambda: form.state.plan)
    assert not form.state.looking
    assert (plan.num_train_examples, plan.num_test_examples) == (300, 64)
    assert plan.element_spec == "a replica's batch: 64 x features (6,) float32, labels () float32"
    script = render_script(plan)
    assert DATA.strip() in script
    assert script.count("\nEXAMPLES = 300") == script.count("\nFEATURES = 6") == 1
    assert script.partition("# ---- Recorder")[0].count("import numpy as np") == 1


def test_fields_that_it_has_no_use_for_are_out_of_sight(form: Form) -> None:
    until(lambda: form.state.plan)
    for name in ("data_dir", "synthetic_noise", "learning_rate"):
        (field,) = form.parts.named(name)
        assert field.box.layout.display == "none"


def test_a_cell_that_ran_again_is_looked_at_anew(form: Form, notebook: Notebook) -> None:
    until(lambda: form.state.plan)
    notebook.run("EXAMPLES = 200")
    form.refresh()
    assert form.state.looking
    assert until(lambda: form.state.plan).num_train_examples == 200


def test_what_is_wrong_with_it_is_told_beside_the_field_until_it_is_mended(
    form: Form, notebook: Notebook
) -> None:
    notebook.run("def load_data():\n    raise FileNotFoundError('no /data/images')")
    form.refresh()
    (problem,) = until(lambda: form.state.problems)
    assert problem.field == "data"
    (field,) = form.parts.named("data")
    assert "FileNotFoundError: no /data/images" in field._problems.value
    assert form.state.plan is None
    notebook.run(DATA)
    form.refresh()
    assert until(lambda: form.state.plan)


def test_what_was_mended_outside_of_it_is_seen_when_a_cell_has_run(
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


def test_another_choice_meanwhile_is_planned_at_once(form: Form) -> None:
    form.write(RunConfig())
    assert form.state.plan is not None
    assert not form.state.looking
