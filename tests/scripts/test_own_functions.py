"""A notebook's functions are taken from a script into files that give the same script again.

A function of a file stays there: the script imports it.
"""

import itertools
from pathlib import Path

import pytest

from tests.codegen.golden import OWN_MODEL, notebook_model
from tests.machines import LAPTOP
from workbench.codegen import render_script
from workbench.codegen.carried import split_config
from workbench.codegen.script import OWN
from workbench.config import RunConfig
from workbench.plan import PlanError, make_plan
from workbench.plan.plan import DataFacts
from workbench.runs.functions import keep_function
from workbench.scripts import Opened, ScriptError, read_script

MODEL = '''\
"""Mine."""

import math

import tensorflow as tf

from my_layers import Wide

WIDTH = 8  # of the hidden layer


# What it is made of.
class Layer(Wide):
    pass


def build():
    return tf.keras.Sequential([Layer(WIDTH)])
'''
DATA = """\
import numpy as np
import pandas as pd

WIDTH = 8  # of the hidden layer


def load():
    table = pd.DataFrame(np.zeros([10, WIDTH]))
    return (table, table), (table, table)
"""
STEP = """\
import tensorflow as tf

RATE = 0.5


def train_step(model, features, labels):
    return RATE * tf.reduce_mean(model(features))
"""
ARRAYS = DataFacts("arrays", 640, 64, "rows", 32)
DATASET = DataFacts("dataset", 640, 64, "rows", 32)
BATCHES, SEQUENCES, GENERATORS = (
    DataFacts("dataset", 640, 0, "rows", 32, given=given)
    for given in ("batches", "sequences", "generators")
)
FACTS = [ARRAYS, DATASET, BATCHES, GENERATORS]


def files(script: Opened, folder: Path) -> RunConfig:
    """Write the kept functions to files, and return the config with their addresses."""
    return script.with_files(
        {each.field: keep_function(each.source, each.function, folder) for each in script.kept}
    )


@pytest.mark.parametrize("optimizer", [None, "adam", "sgd"])
@pytest.mark.parametrize("loop", ["custom", "fit"])
def test_a_model_is_recovered_with_everything_it_uses(
    loop: str, optimizer: str | None, tmp_path: Path
) -> None:
    model = keep_function(MODEL, "build", tmp_path)
    config = RunConfig(model=model, loop=loop, optimizer=optimizer)
    text = render_script(make_plan(config, LAPTOP))
    script = read_script(text, LAPTOP)
    assert script.as_made
    assert script.edits == ""
    again = files(script, tmp_path)
    assert render_script(make_plan(again, LAPTOP)) == text
    assert (again.loop, again.optimizer) == (loop, optimizer)


@pytest.mark.parametrize(
    ("strategy", "facts"),
    [
        *itertools.product(["mirrored", "multi_worker_mirrored", "parameter_server"], FACTS),
        ("mirrored", SEQUENCES),
    ],
)
def test_data_and_model_are_recovered_in_separate_files(
    strategy: str, facts: DataFacts, tmp_path: Path
) -> None:
    data, model = keep_function(DATA, "load", tmp_path), keep_function(MODEL, "build", tmp_path)
    config = RunConfig(strategy=strategy, data=data, model=model)
    text = render_script(make_plan(config, LAPTOP, facts))
    script = read_script(text, LAPTOP)
    assert script.as_made
    assert [(each.field, each.function) for each in script.kept] == [
        ("data", "load"),
        ("model", "build"),
    ]
    assert render_script(make_plan(files(script, tmp_path), LAPTOP, facts)) == text


@pytest.mark.parametrize("name", ["train_step", "my_step"])
def test_a_custom_step_is_recovered_with_the_other_functions(name: str, tmp_path: Path) -> None:
    sources = {"data": DATA, "model": MODEL, "step": STEP.replace("train_step", name)}
    names = {"data": "load", "model": "build", "step": name}
    own = {
        field: keep_function(source, names[field], tmp_path) for field, source in sources.items()
    }
    text = render_script(make_plan(RunConfig(**own), LAPTOP, ARRAYS))
    script = read_script(text, LAPTOP)
    assert script.as_made
    assert {each.field: each.function for each in script.kept} == names
    assert render_script(make_plan(files(script, tmp_path), LAPTOP, ARRAYS)) == text


def test_a_function_with_a_name_of_scripts_is_recovered(tmp_path: Path) -> None:
    model = keep_function(MODEL.replace("def build", "def make_model"), "make_model", tmp_path)
    text = render_script(make_plan(RunConfig(model=model), LAPTOP))
    script = read_script(text, LAPTOP)
    assert script.as_made
    assert render_script(make_plan(files(script, tmp_path), LAPTOP)) == text


def test_edits_of_a_custom_function_become_its_text(tmp_path: Path) -> None:
    text = notebook_model().replace("WIDTH = 32", "WIDTH = 64").replace('"tanh"', '"relu"')
    script = read_script(text, LAPTOP)
    assert script.edits == ""
    again = render_script(make_plan(files(script, tmp_path), LAPTOP))
    assert split_config(again)[0] == split_config(script.text)[0]
    assert "WIDTH = 64" in again


def test_a_function_may_use_the_name_of_a_module(tmp_path: Path) -> None:
    source = "import numpy as np\n\n\ndef load():\n    time = np.arange(10.0)\n"
    source += "    return (time, time), (time, time)\n"
    data, model = (
        keep_function(text, name, tmp_path) for text, name in ((source, "load"), (MODEL, "build"))
    )
    config = RunConfig(data=data, model=model)
    script = read_script(render_script(make_plan(config, LAPTOP, ARRAYS)), LAPTOP)
    assert script.as_made
    data = next(each for each in script.kept if each.field == "data")
    assert "import time" not in data.source


def test_code_that_an_earlier_function_has_is_in_both_files(tmp_path: Path) -> None:
    shared = "import tensorflow as tf\n\nUNITS = 8\n\n\ndef units():\n    return UNITS\n\n\n"
    data = f"{shared}def load():\n    return tf.zeros([640, units()]), tf.zeros([64, units()])\n"
    model = f"{shared}def build():\n    return tf.keras.layers.Dense(units())\n"
    config = RunConfig(
        data=keep_function(data, "load", tmp_path), model=keep_function(model, "build", tmp_path)
    )
    text = render_script(make_plan(config, LAPTOP, ARRAYS))
    script = read_script(text, LAPTOP)
    ours = next(each for each in script.kept if each.field == "model")
    assert "UNITS = 8" in ours.source
    assert "def load" not in ours.source
    assert render_script(make_plan(files(script, tmp_path), LAPTOP, ARRAYS)) == text


def test_a_function_without_its_mark_is_refused_with_the_line_to_restore() -> None:
    mark = OWN.format(field="model", function="build_model")
    with pytest.raises(ScriptError, match="Restore both lines") as raised:
        read_script(notebook_model().replace(mark, "# mine"), LAPTOP)
    assert mark in raised.value.problems[0].got


def test_a_file_is_found_beside_the_script_that_imports_it(tmp_path: Path) -> None:
    file = tmp_path / "mine" / OWN_MODEL.name
    file.parent.mkdir()
    file.write_bytes(OWN_MODEL.read_bytes())
    text = render_script(make_plan(RunConfig(model=f"{file}:build_model"), LAPTOP))
    script = read_script(text, LAPTOP, folders=[tmp_path, file.parent])
    assert script.as_made
    assert script.kept == ()
    assert script.config.model == f"{file}:build_model"
    with pytest.raises(PlanError, match="model must be a file that exists"):
        read_script(text, LAPTOP)
