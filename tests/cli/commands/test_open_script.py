"""Saved scripts on the command line: opened, run as they are, compared; never overwritten."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.terminal import Terminal, last_json
from workbench.codegen import render_script
from workbench.config import RunConfig
from workbench.devices import Devices, detect
from workbench.plan import make_plan
from workbench.runs.folder.files import sha256
from workbench.runs.functions import keep_function

CONFIG = RunConfig(strategy="one_device", epochs=1, synthetic_examples=640)
STEP = "    model.save("
MODEL = """\
import tensorflow as tf


def build():
    model = tf.keras.Sequential([tf.keras.Input([10]), tf.keras.layers.Dense(1)])
    model.compile("sgd", loss="mse")
    return model
"""


@pytest.fixture(scope="module")
def devices() -> Devices:
    return detect(import_tensorflow=False)


@pytest.fixture(scope="module")
def saved(terminal: Terminal, devices: Devices) -> Path:
    """A script as it was exported."""
    path = terminal.folder / "saved.py"
    path.write_text(render_script(make_plan(CONFIG, devices)))
    return path


@pytest.fixture(scope="module")
def edited(terminal: Terminal, saved: Path) -> Path:
    """The same script with an edit that no field covers."""
    path = terminal.folder / "edited.py"
    path.write_text(saved.read_text().replace(STEP, f'    print("by hand")\n{STEP}'))
    return path


def test_an_opened_script_is_printed_again_and_flags_overrule_it(
    terminal: Terminal, saved: Path, devices: Devices
) -> None:
    done = terminal.type("script", "--open", saved)
    assert done.stdout == saved.read_text()
    assert "is unchanged since the workbench wrote it" in done.stderr
    done = terminal.type("script", "--open", saved, "--epochs", "3")
    assert "EPOCHS = 3" in done.stdout


def test_a_changed_constant_is_a_setting_and_other_edits_are_shown(
    terminal: Terminal, edited: Path
) -> None:
    path = terminal.folder / "changed.py"
    path.write_text(edited.read_text().replace("SEED = 42", "SEED = 7"))
    done = terminal.type("script", "--open", path, "--epochs", "3")
    assert done.returncode == 0, done.stderr
    assert "SEED = 7" in done.stdout
    assert "EPOCHS = 3" in done.stdout
    assert "by hand" not in done.stdout
    assert "No flag has these edits, so the new script lacks them:" in done.stderr
    assert '+    print("by hand")' in done.stderr
    assert "SEED" not in done.stderr


def test_an_edited_file_is_never_overwritten(terminal: Terminal, edited: Path) -> None:
    before = edited.read_text()
    done = terminal.type("script", "--open", edited, "--epochs", "3", "-o", edited)
    assert done.returncode == 1
    assert f"Not saved: {edited} exists and differs." in done.stderr
    assert edited.read_text() == before


def test_a_function_in_a_script_is_kept_with_the_runs_and_used_in_the_new_script(
    terminal: Terminal, devices: Devices
) -> None:
    config = replace(CONFIG, model=keep_function(MODEL, "build", terminal.folder))
    path = terminal.folder / "wide.py"
    path.write_text(render_script(make_plan(config, devices)).replace("Dense(1", "Dense(1, None"))
    done = terminal.type("script", "--open", path, "-o", "wide_again.py")
    assert done.returncode == 0, done.stderr
    assert "Dense(1, None" in (terminal.folder / "wide_again.py").read_text()
    (kept,) = (terminal.runs / "functions").glob("build_*.py")
    assert "Dense(1, None" in kept.read_text()


def test_the_difference_of_two_scripts_is_printed(
    terminal: Terminal, saved: Path, edited: Path
) -> None:
    done = terminal.type("script", "--open", saved, "--diff", edited)
    lines = done.stdout.splitlines()
    assert lines[:2] == [f"--- {edited}", "+++ this script"]
    assert '-    print("by hand")' in lines
    same = terminal.type("script", "--open", saved, "--diff", saved)
    assert same.stdout == ""
    assert "and this script are the same" in same.stderr


@pytest.mark.slow
def test_an_edited_script_runs_as_it_is(terminal: Terminal, edited: Path) -> None:
    done = terminal.type("run", "--script", edited, "--start-now", "--json")
    assert done.returncode == 0, done.stderr
    result = last_json(done)
    assert result["script_sha256"] == sha256(edited.read_text())
    assert Path(result["dir"], "train.py").read_text() == edited.read_text()
    assert "by hand\n" in Path(result["dir"], "worker-0", "log.txt").read_text()
    again = terminal.type("runs", "resume", result["run"], "--epochs", "2")
    assert again.returncode == 1
    assert "edited by hand" in again.stderr


def test_flags_for_values_of_the_script_are_refused(terminal: Terminal, edited: Path) -> None:
    done = terminal.type("run", "--script", edited, "--epochs", "3")
    assert done.returncode == 2
    assert "--epochs" in done.stderr
    assert f"workbench script --open {edited} --epochs" in done.stderr


@pytest.mark.parametrize(
    "command", [["run", "--script"], ["script", "--open"], ["script", "--diff"]]
)
def test_a_text_that_is_no_script_or_no_file_is_refused(
    command: list[str], terminal: Terminal
) -> None:
    done = terminal.type(*command, "no/such/train.py")
    assert done.returncode == 2
    assert "no/such/train.py" in done.stderr
    (terminal.folder / "other.py").write_text("print(1)\n")
    if command[1] != "--diff":
        done = terminal.type(*command, "other.py")
        assert done.returncode == 2
        assert "script must be a script that carries its config" in done.stderr
