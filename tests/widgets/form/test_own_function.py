"""A function of the notebook as the model: offered by name, always in its newest version."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.capture.notebook import Notebook, opened
from tests.machines import LAPTOP
from workbench import RunConfig, catalog, render_script
from workbench.config import ConfigError
from workbench.widgets.form.form import Form
from workbench.widgets.form.function_field import OWN, FunctionField
from workbench.widgets.form.notebook_function import NotebookFunction

SIZES = "WIDTH, OUTPUTS = 4, 1"
BUILD = """
def build():
    import tensorflow as tf

    layers = [tf.keras.layers.Dense(WIDTH), tf.keras.layers.Dense(OUTPUTS)]
    return tf.keras.Sequential(layers)
"""


@pytest.fixture
def notebook() -> Iterator[Notebook]:
    with opened() as notebook:
        notebook.run(SIZES, BUILD)
        yield notebook


@pytest.fixture
def function(notebook: Notebook, tmp_path: Path) -> NotebookFunction:
    return NotebookFunction(notebook["build"], "model", tmp_path)


def form_of(function: NotebookFunction) -> Form:
    config = catalog.PRESETS["mlp_synthetic"].config
    return Form(
        RunConfig(**{**vars(config), "model": function.address()}), LAPTOP, {"model": function}
    )


def model_of(form: Form) -> FunctionField:
    (field,) = form.parts.named("model")
    assert isinstance(field, FunctionField)
    return field


def test_its_text_is_saved_in_the_folder_of_runs_and_goes_into_the_script(
    function: NotebookFunction, tmp_path: Path
) -> None:
    form = form_of(function)
    address = form.state.config.model
    assert address is not None
    path, _, name = address.rpartition(":")
    assert (Path(path).parent, name) == (tmp_path / "functions", "build")
    assert form.state.plan is not None
    script = render_script(form.state.plan)
    assert "WIDTH = 4\n" in script
    assert BUILD.strip() in script


def test_the_form_offers_it_by_its_name(function: NotebookFunction) -> None:
    field = model_of(form_of(function))
    assert field.control.label == "build()"
    assert "run its cell again" in field._help.value
    assert field._own.layout.display == "none"


def test_a_new_run_of_its_cell_changes_the_plan(
    function: NotebookFunction, notebook: Notebook
) -> None:
    form = form_of(function)
    before = form.state.config.model
    notebook.run("WIDTH = 8")
    form.refresh()
    assert form.state.plan is not None
    assert "WIDTH = 8\n" in render_script(form.state.plan)
    assert before != form.state.config.model
    notebook.run(SIZES)
    form.refresh()
    assert form.state.config.model == before


def test_objects_that_cannot_be_copied_are_shown_next_to_the_field(
    function: NotebookFunction, notebook: Notebook
) -> None:
    form = form_of(function)
    notebook.run("WIDTH, OUTPUTS = object(), object()")
    form.refresh()
    assert form.state.plan is None
    problems = model_of(form).problems
    assert "build with WIDTH, an object of the notebook" in problems
    assert "build with OUTPUTS, an object of the notebook" in problems
    assert "Create it inside build." in problems
    notebook.run(SIZES)
    form.refresh()
    assert form.state.problems == ()


def test_a_config_that_names_another_model_is_shown_as_it_is(function: NotebookFunction) -> None:
    form = form_of(function)
    for model in ("dense", "elsewhere.py:make"):
        form.write(RunConfig(model=model))
        assert form.state.config.model == model
    form.write(RunConfig(model=function.address()))
    assert model_of(form).control.label == "build()"


def test_a_function_of_a_module_keeps_its_address(tmp_path: Path) -> None:
    function = NotebookFunction(opened, "model", tmp_path)
    assert function.address() == "tests.capture.notebook:opened"
    assert list(tmp_path.iterdir()) == []


def test_a_function_that_cannot_be_saved_as_text_is_refused_immediately(
    notebook: Notebook, tmp_path: Path
) -> None:
    notebook.run("WIDTH = object()")
    with pytest.raises(ConfigError, match="build with WIDTH"):
        NotebookFunction(notebook["build"], "model", tmp_path)


def test_a_folder_that_cannot_be_written_is_shown_next_to_the_field(
    function: NotebookFunction, notebook: Notebook, tmp_path: Path
) -> None:
    form = form_of(function)
    for path in (tmp_path / "functions").iterdir():
        path.unlink()
    (tmp_path / "functions").rmdir()
    (tmp_path / "functions").write_text("in the way")
    notebook.run("WIDTH = 9")
    form.refresh()
    assert "Pass Workbench a runs_dir that is writable." in model_of(form).problems


@pytest.fixture
def form(notebook: Notebook, tmp_path: Path) -> Form:
    """A form to which the notebook gave no function."""
    return Form(catalog.PRESETS["mlp_synthetic"].config, LAPTOP, runs_dir=tmp_path)


def type_model(form: Form, name: str) -> FunctionField:
    field = model_of(form)
    field.control.value = OWN
    field._own.value = name
    return field


def test_a_typed_name_of_the_notebook_is_its_function_in_its_newest_version(
    form: Form, notebook: Notebook, tmp_path: Path
) -> None:
    field = type_model(form, " build ")
    address = form.state.config.model
    assert address is not None
    assert Path(address.rpartition(":")[0]).parent == tmp_path / "functions"
    assert form.parts.use_notebook
    notebook.run("WIDTH = 16")
    form.refresh()
    assert form.state.plan is not None
    assert "WIDTH = 16\n" in render_script(form.state.plan)
    form.write(form.state.config)
    assert (field.control.value, field._own.value) == (OWN, "build")


def test_a_typed_name_that_the_notebook_lacks_is_refused_until_its_cell_runs(
    form: Form, notebook: Notebook
) -> None:
    notebook.run("import math\n\ndef helper():\n    return math.pi")
    field = type_model(form, "rebuild")
    for part in ("a function of the notebook, module:function or file.py:function",
                 "rebuild, which is not a function of the notebook",
                 "Type one of build, helper, or run the cell that defines rebuild."):  # fmt: skip
        assert part in field.problems
    notebook.run(BUILD.replace("build", "rebuild"))
    form.refresh()
    assert form.state.problems == ()


def test_a_typed_lambda_is_refused_as_the_workbench_refuses_it(
    form: Form, notebook: Notebook
) -> None:
    notebook.run("short = lambda: None")
    assert "a lambda" in type_model(form, "short").problems
    assert not form.state.plan
