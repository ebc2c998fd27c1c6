"""From an interpreter without TensorFlow to a run, by clicks; the kernel stays alive."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.lab_page import LabPage
from tests.browser.workbench_page import WorkbenchPage

SOURCE = """
import os
from workbench import RunConfig, Workbench

os.environ["WORKBENCH_ENVIRONMENTS"] = "{environments}"
kept = os.getpid()
Workbench(RunConfig(interpreter="{python}", epochs=1, steps_per_epoch=20))
"""


class WithoutTensorFlow(WorkbenchPage):
    """A workbench whose runs cannot start yet."""

    def show(self) -> None:
        self.lab.run_cell(0)
        expect(self.button("Make an environment")).to_be_visible()


@pytest.mark.skipif(sys.platform != "linux", reason="the build for the CPU alone is for Linux")
def test_an_environment_is_made_and_a_run_trains_in_it(lab: LabPage, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True)
    source = SOURCE.format(python=bare / "bin/python", environments=tmp_path / "environments")
    workbench = WithoutTensorFlow(lab, "environment.ipynb", "kept == os.getpid()", source=source)
    expect(workbench.button("Train")).to_be_disabled()
    expect(workbench.root.get_by_text(re.compile("^Fix .* to train"))).to_be_visible()

    workbench.button("Make an environment").click()
    expect(workbench.root.get_by_text("Step 3 of 4, installing")).to_be_visible()
    workbench.button("Cancel").click()
    expect(workbench.root.get_by_text("the unfinished environment was removed")).to_be_visible()

    workbench.button("Make an environment").click()
    used = workbench.root.get_by_text("Runs now use")
    expect(used).to_be_visible()
    expect(workbench.button("Train")).to_be_enabled()
    workbench.train()
    expect(workbench.state).to_have_text("finished")
    lab.run_cell(1)
    expect(lab.cell(1).locator(".jp-OutputArea-output pre")).to_have_text("True")
