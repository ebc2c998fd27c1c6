"""The user's functions are taken from a script into files that give the same script again."""

import builtins
import symtable
from pathlib import Path

import pytest

from tests.codegen.golden import render
from tests.machines import LAPTOP
from tests.scripts.edited import FASHION, SYNTHETIC, named, opened
from workbench.codegen import render_script
from workbench.codegen.script import HELPERS, MARKER, READER
from workbench.config import RunConfig
from workbench.plan import make_plan
from workbench.plan.own_data import DataFacts
from workbench.runs.functions import keep_function
from workbench.scripts import Opened, read_script

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
TITLE = '"""CNN 32-64 on Fashion-MNIST'


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
    assert script.lost == ()
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
    assert script.lost == ()
    again = render_script(make_plan(files(script, tmp_path), LAPTOP))
    assert again == script.text != render("own_model")


def test_an_edited_model_becomes_a_custom_model_with_its_helpers(tmp_path: Path) -> None:
    script = opened(
        FASHION,
        ("from collections.abc", "import functools\nfrom collections.abc"),
        ("def make_model()", "@functools.cache\ndef units():\n    return 64\n\n\ndef make_model()"),
        ("tf.keras.layers.Dense(64", "tf.keras.layers.Dense(units()"),
    )
    (kept,) = script.kept
    assert (kept.field, kept.function) == ("model", "make_model")
    assert "import functools\n" in kept.source
    assert "@functools.cache\ndef units():" in kept.source
    assert "with units." in named(script)["make_model"].text
    assert script.lost == ()
    config = files(script, tmp_path)
    assert config.optimizer == "adam"
    text = render_script(make_plan(config, LAPTOP))
    assert "Dense(units()" in text
    assert text.count("def make_optimizer") == 1
    assert read_script(text, LAPTOP).as_made


def test_an_edited_optimizer_becomes_part_of_a_custom_model(tmp_path: Path) -> None:
    schedule = "tf.keras.optimizers.schedules.CosineDecay(0.1, EPOCHS * STEPS_PER_EPOCH)"
    script = opened(FASHION, ("LEARNING_RATE = 0.001", f"LEARNING_RATE = {schedule}"))
    config = files(script, tmp_path)
    assert config.optimizer is None
    text = render_script(make_plan(config, LAPTOP))
    assert f"OWN_LEARNING_RATE = {schedule}" in text
    assert "model.compile(own_make_optimizer(), loss=loss)" in text
    assert "OWN_LEARNING_RATE" in named(script)["make_model"].text


def test_edited_data_and_its_model_become_custom(tmp_path: Path) -> None:
    script = opened(SYNTHETIC, ("score = features @", "score = 2 * features @"))
    assert [each.field for each in script.kept] == ["data", "model"]
    config = files(script, tmp_path)
    facts = DataFacts("arrays", 10_000, 2_000, "rows", 44)
    text = render_script(make_plan(config, LAPTOP, facts))
    assert "score = 2 * features @ random.standard_normal(OWN_NUM_FEATURES" in text
    assert read_script(text, LAPTOP).as_made


def test_edited_images_become_custom_data_with_the_reader_of_their_files(tmp_path: Path) -> None:
    script = opened(FASHION, ("/ 255, labels", "/ 127.5 - 1, labels"))
    assert script.lost == ()
    facts = DataFacts("arrays", 60_000, 10_000, "28 x 28 x 1", 3_137)
    text = render_script(make_plan(files(script, tmp_path), LAPTOP, facts))
    above, _, below = text.partition(MARKER)
    assert "def own_read_file" in above
    assert "def read_file" not in below
    assert read_script(text, LAPTOP).as_made


def test_a_removed_reader_that_nothing_needs_is_not_named() -> None:
    text = render(FASHION)
    reader = text[text.index(READER) : text.index(HELPERS)]
    data = text[text.index("def make_data") : text.index("def make_batches")]
    ours = "def make_data():\n    images = np.zeros((8, 28, 28, 1), np.float32)\n"
    ours += "    return (images, np.zeros(8)), (images, np.zeros(8))\n\n\n"
    script = read_script(text.replace(data, ours).replace(reader, ""), LAPTOP)
    assert [each.field for each in script.kept] == ["data", "model"]
    assert script.lost == ()


def test_a_function_may_use_a_name_that_the_recorder_imports(tmp_path: Path) -> None:
    source = "import numpy as np\n\n\ndef load():\n    time = np.arange(10.0)\n"
    source += "    return (time, time), (time, time)\n"
    model = f"{written(tmp_path, 'model.py', MODEL)}:build"
    config = RunConfig(data=f"{written(tmp_path, 'data.py', source)}:load", model=model)
    script = read_script(render_script(make_plan(config, LAPTOP, ARRAYS)), LAPTOP)
    assert script.as_made
    data = next(each for each in script.kept if each.field == "data")
    assert "import time" not in data.source


def test_a_file_of_a_data_function_stands_alone() -> None:
    script = opened(FASHION, ("/ 255, labels", "/ 127.5 - 1, labels"))
    data = next(each for each in script.kept if each.field == "data")
    table = symtable.symtable(data.source, "data.py", "exec")
    bound = {
        each.get_name()
        for each in table.get_symbols()
        if each.is_assigned() or each.is_imported() or each.is_namespace()
    }
    read = {
        each.get_name()
        for function in table.get_children()
        for each in function.get_symbols()
        if each.is_global()
    } | {each.get_name() for each in table.get_symbols() if each.is_referenced()}
    assert read - set(dir(builtins)) <= bound
    assert {"own_read_file", "OWN_DATA_DIR", "OWN_CHECKSUMS", "os"} <= bound


def test_names_in_f_strings_are_renamed_but_the_text_around_them_is_not() -> None:
    text = 'raise SystemExit(f"Needs the published {path}; this one differs. Replace it.")'
    ours = 'raise SystemExit(f"{CHECKSUMS[name]} of CHECKSUMS: {read_file!r}")'
    script = opened(FASHION, (text, ours))
    data = next(each for each in script.kept if each.field == "data")
    assert 'f"{OWN_CHECKSUMS[name]} of CHECKSUMS: {own_read_file!r}"' in data.source


def test_an_edited_reader_of_files_becomes_custom_data() -> None:
    script = opened(FASHION, ("/tf-keras-datasets/", "/my-copy/"))
    data = next(each for each in script.kept if each.field == "data")
    assert "/my-copy/" in data.source
    assert script.lost == ()
