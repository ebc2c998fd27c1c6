"""A model of the notebook itself, by clicks: always as it is now, exported whole."""

import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.lab_page import LabPage
from tests.browser.workbench_page import WorkbenchPage
from workbench.runs import list_runs

OWN = """
import tensorflow as tf
from workbench import Workbench

WIDTH = 4


def hidden(units):
    return tf.keras.layers.Dense(units, activation="relu")


def build_model():
    outputs = tf.keras.layers.Dense(1, activation="sigmoid")
    model = tf.keras.Sequential([tf.keras.Input([10]), hidden(WIDTH), outputs])
    model.compile(loss=tf.keras.losses.BinaryCrossentropy())
    return model


Workbench(model=build_model)
"""


@pytest.mark.promise
def test_from_a_cell_to_two_live_replicas_to_a_script_that_runs_alone(
    lab: LabPage, tmp_path: Path
) -> None:
    workbench = WorkbenchPage(lab, "own.ipynb", "WIDTH = 12", "WIDTH = object()", source=OWN)
    chosen = workbench.field("Model").locator("option:checked")
    expect(chosen).to_have_text("build_model()")

    workbench.turn_to("Script")
    script = workbench.root.locator(".wb-code pre")
    expect(script).to_contain_text("WIDTH = 4")
    lab.run_cell(2)
    problem = workbench.root.get_by_text("build_model with WIDTH, an object of the notebook")
    expect(problem).to_be_visible()
    expect(workbench.button("Train")).to_be_disabled()
    lab.run_cell(1)
    expect(problem).not_to_be_visible()
    expect(script).to_contain_text("WIDTH = 12")

    workbench.train(**{"Epochs": "2", "Steps an epoch": "20"})
    expect(workbench.state).to_have_text("finished")
    workbench.wait_for_lines("lines.some(l => l[0] === 'virtual replica 1')")
    run = list_runs(workbench.runs_dir)[0]
    assert run.missing == []
    assert "WIDTH = 12\n" in run.script
    assert "def hidden(units):\n" in run.script

    (tmp_path / "alone.py").write_text(run.script, encoding="utf-8")
    command = [sys.executable, "alone.py"]
    alone = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert alone.returncode == 0, alone.stderr
