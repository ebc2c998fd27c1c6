"""`workbench detect` and `workbench script`: the devices, and the script."""

import json
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from tests.cli.terminal import Terminal
from workbench.codegen import render_notebook, render_script
from workbench.config import RunConfig
from workbench.devices import Devices, detect
from workbench.hosts import TERMINAL
from workbench.plan import make_plan

FLAGS = ["--strategy", "one_device", "--epochs", "2", "--learning-rate", "0.01"]
CONFIG = RunConfig(strategy="one_device", epochs=2, learning_rate=0.01)


@pytest.fixture(scope="module")
def devices() -> Devices:
    return detect(import_tensorflow=False)


@pytest.mark.slow
def test_detect_gives_the_devices_of_the_library_and_the_host_as_json(terminal: Terminal) -> None:
    done = terminal.type("detect", "--json")
    assert done.returncode == 0
    values = json.loads(done.stdout)
    assert values.pop("host") == TERMINAL
    found = Devices.from_json(values)
    assert found.interpreter == sys.executable
    assert found.tensorflow_version == detect(import_tensorflow=False).tensorflow_version
    assert found.cpu_cores >= 1


def test_detect_names_a_missing_interpreter(terminal: Terminal) -> None:
    done = terminal.type("detect", "--interpreter", "/no/python")
    assert done.returncode == 2
    assert "/no/python" in done.stderr


def test_script_prints_the_script_and_runs_nothing(terminal: Terminal, devices: Devices) -> None:
    done = terminal.type("script", *FLAGS)
    assert done.returncode == 0
    assert done.stdout == render_script(make_plan(CONFIG, devices))
    assert not terminal.runs.exists()


def test_script_saves_a_script_or_a_notebook(terminal: Terminal, devices: Devices) -> None:
    plan = make_plan(CONFIG, devices)
    done = terminal.type("script", *FLAGS, "-o", "train.py")
    assert "Run it with: python train.py" in done.stdout
    assert (terminal.folder / "train.py").read_text() == render_script(plan)
    done = terminal.type("script", *FLAGS, "-o", "train.ipynb")
    assert "Jupyter" in done.stdout
    text = (terminal.folder / "train.ipynb").read_text()
    assert text == render_notebook(plan)
    nbformat.validate(nbformat.reads(text, as_version=4))


def test_script_saves_the_observer_beside_a_script(terminal: Terminal) -> None:
    done = terminal.type("script", *FLAGS, "-o", "train.py", "--observer")
    words = "python observe.pyz --run-dir run train.py"
    assert f"Record the script anywhere, with: {words}" in done.stdout
    helped = subprocess.run(
        [sys.executable, terminal.folder / "observe.pyz", "--help"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "--save-seconds" in helped.stdout
    for output in ([], ["-o", "train.ipynb"]):
        done = terminal.type("script", *FLAGS, *output, "--observer")
        assert done.returncode == 1
        assert "--observer is saved beside a script. Add: --output train.py" in done.stderr


def test_script_never_overwrites_a_different_file(terminal: Terminal) -> None:
    (terminal.folder / "mine.py").write_text("mine")
    done = terminal.type("script", "-o", "mine.py")
    assert done.returncode == 1
    assert "mine.py exists and differs. Choose another name" in done.stderr
    assert (terminal.folder / "mine.py").read_text() == "mine"
    assert terminal.type("script", "-o", "again.py").returncode == 0
    assert terminal.type("script", "-o", "again.py").returncode == 0


def test_a_saved_script_names_the_file_that_it_imports(terminal: Terminal) -> None:
    (terminal.folder / "models.py").write_text("def build(): ...\n")
    done = terminal.type("script", "--model", "models.py:build", "-o", "with_own.py")
    assert done.returncode == 0, done.stderr
    assert "It imports models.py: keep that file beside it." in done.stderr


def test_a_missing_folder_is_named(terminal: Terminal) -> None:
    done = terminal.type("script", "-o", "no/such/train.py")
    assert done.returncode == 1
    assert "no/such/train.py" in done.stderr


def test_flags_overrule_a_file_and_a_file_overrules_a_preset(
    terminal: Terminal, tmp_path: Path, devices: Devices
) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"version": 1, "epochs": 7, "seed": 3, "global_batch_size": 32}))
    flags = ["--preset", "mlp_synthetic", "--config", path, "--seed", "5"]
    done = terminal.type("script", *flags)
    config = RunConfig(model="mlp", epochs=7, seed=5, global_batch_size=32)
    assert done.stdout == render_script(make_plan(config, devices))


def test_a_saved_config_makes_the_same_script(
    terminal: Terminal, tmp_path: Path, devices: Devices
) -> None:
    config = RunConfig(name='it\'s "mine"\n', devices=("CPU:0",), replicas=3, clip_norm=0.5)
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config.to_json()))
    done = terminal.type("script", "--config", path)
    assert done.stdout == render_script(make_plan(config, devices))


def test_a_closed_pipe_is_no_error(terminal: Terminal) -> None:
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{sys.executable} -m workbench script | head -1"],
        cwd=terminal.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.startswith('"""MLP')
    assert done.stderr == ""
