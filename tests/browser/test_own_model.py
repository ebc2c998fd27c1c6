"""Model and data of the notebook itself, by clicks: always the newest, exported completely."""

import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.cells import CELL_OF_OWN_MODEL
from tests.browser.lab_page import LabPage
from tests.browser.workbench_page import WorkbenchPage
from workbench.runs import list_runs


@pytest.mark.promise
def test_from_a_cell_to_two_live_replicas_to_a_script_that_runs_alone(
    lab: LabPage, tmp_path: Path
) -> None:
    workbench = WorkbenchPage(
        lab, "own.ipynb", "WIDTH = 12", "WIDTH = object()", source=CELL_OF_OWN_MODEL
    )
    for field, function in (("Model", "build_model()"), ("Data", "load_data()")):
        expect(workbench.field(field).locator("option:checked")).to_have_text(function)
    expect(workbench.button("Train")).to_be_enabled()

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

    workbench.train(**{"Epochs": "2", "Steps per epoch": "20"})
    expect(workbench.state).to_have_text("finished")
    workbench.wait_for_lines("lines.some(l => l[0] === 'virtual replica 1')")
    run = list_runs(workbench.runs_dir)[0]
    assert run.missing == []
    assert "WIDTH = 12\n" in run.script
    assert "def hidden(units):\n" in run.script
    assert run.script.count("FEATURES = ") == 1
    assert run.plan.num_train_examples == 320

    (tmp_path / "alone.py").write_text(run.script, encoding="utf-8")
    command = [sys.executable, "alone.py"]
    alone = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert alone.returncode == 0, alone.stderr
