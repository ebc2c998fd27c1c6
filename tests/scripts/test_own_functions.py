"""The user's functions are taken from a script into files that give the same script again."""

from pathlib import Path

import pytest

from tests.machines import LAPTOP
from tests.scripts.edited import opened
from workbench.codegen import render_script
from workbench.codegen.carried import split_config
from workbench.codegen.script import OWN
from workbench.config import RunConfig
from workbench.plan import make_plan
from workbench.plan.own_data import DataFacts
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


def files(script: Opened, folder: Path) -> RunConfig:
    """Write the kept functions to files, and return the config with their addresses."""
    return script.with_files(
        {each.field: keep_function(each.source, each.function, folder) for each in script.kept}
    )


def written(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("optimizer", [None, "adam", "sgd"])
@pytest.mark.parametrize("loop", ["custom", "fit"])
def test_a_model_is_recovered_with_everything_it_uses(
    loop: str, optimizer: str | None, tmp_path: Path
) -> None:
    path = written(tmp_path, "models.py", MODEL)
    config = RunConfig(model=f"{path}:build", loop=loop, optimizer=optimizer)
    text = render_script(make_plan(config, LAPTOP))
    script = read_script(text, LAPTOP)
    assert script.as_made
    assert script.edits == ""
    again = files(script, tmp_path)
    assert render_script(make_plan(again, LAPTOP)) == text
    assert (again.loop, again.optimizer) == (loop, optimizer)


@pytest.mark.parametrize("facts", [ARRAYS, DATASET])
@pytest.mark.parametrize("strategy", ["mirrored", "multi_worker_mirrored", "parameter_server"])
def test_data_and_model_are_recovered_in_separate_files(
    strategy: str, facts: DataFacts, tmp_path: Path
) -> None:
    data, model = written(tmp_path, "data.py", DATA), written(tmp_path, "models.py", MODEL)
    config = RunConfig(strategy=strategy, data=f"{data}:load", model=f"{model}:build")
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
        field: f"{written(tmp_path, f'{field}.py', source)}:{names[field]}"
        for field, source in sources.items()
    }
    text = render_script(make_plan(RunConfig(**own), LAPTOP, ARRAYS))
    script = read_script(text, LAPTOP)
    assert script.as_made
    assert {each.field: each.function for each in script.kept} == names
    assert render_script(make_plan(files(script, tmp_path), LAPTOP, ARRAYS)) == text


def test_a_function_with_a_name_of_scripts_is_recovered(tmp_path: Path) -> None:
    path = written(tmp_path, "models.py", MODEL.replace("def build", "def make_model"))
    text = render_script(make_plan(RunConfig(model=f"{path}:make_model"), LAPTOP))
    script = read_script(text, LAPTOP)
    assert script.as_made
    assert render_script(make_plan(files(script, tmp_path), LAPTOP)) == text


def test_edits_of_a_custom_function_become_its_text(tmp_path: Path) -> None:
    script = opened("own_model", ("WIDTH = 32", "WIDTH = 64"), ('"tanh"', '"relu"'))
    assert script.edits == ""
    again = render_script(make_plan(files(script, tmp_path), LAPTOP))
    assert split_config(again)[0] == split_config(script.text)[0]
    assert "WIDTH = 64" in again


def test_a_function_may_use_a_name_that_the_recorder_imports(tmp_path: Path) -> None:
    source = "import numpy as np\n\n\ndef load():\n    time = np.arange(10.0)\n"
    source += "    return (time, time), (time, time)\n"
    model = f"{written(tmp_path, 'model.py', MODEL)}:build"
    config = RunConfig(data=f"{written(tmp_path, 'data.py', source)}:load", model=model)
    script = read_script(render_script(make_plan(config, LAPTOP, ARRAYS)), LAPTOP)
    assert script.as_made
    data = next(each for each in script.kept if each.field == "data")
    assert "import time" not in data.source


def test_code_that_an_earlier_function_has_is_in_both_files(tmp_path: Path) -> None:
    shared = "import tensorflow as tf\n\nUNITS = 8\n\n\ndef units():\n    return UNITS\n\n\n"
    data = f"{shared}def load():\n    return tf.zeros([640, units()]), tf.zeros([64, units()])\n"
    model = f"{shared}def build():\n    return tf.keras.layers.Dense(units())\n"
    config = RunConfig(
        data=f"{written(tmp_path, 'data.py', data)}:load",
        model=f"{written(tmp_path, 'model.py', model)}:build",
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
        opened("own_model", (mark, "# mine"))
    assert mark in raised.value.problems[0].got
