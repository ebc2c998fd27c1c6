"""An exported notebook trains in a kernel and prints the numbers of the script."""

import json
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from tests.machines import LAPTOP
from tests.waiting import LIMIT_SECONDS
from workbench.codegen import render_notebook
from workbench.config import RunConfig
from workbench.plan import make_plan

pytestmark = pytest.mark.slow


OWN = Path(__file__).parent / "own_models.py"


def execute(notebook: Any, folder: Path) -> str:
    """Run all cells in a folder and return the text below the last one."""
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=round(LIMIT_SECONDS), resources=resources).execute()
    return "".join(output.get("text", "") for output in notebook.cells[-1].outputs)


def test_a_lesson_trains_in_a_kernel_and_keeps_its_model_beside_it(tmp_path: Path) -> None:
    config = RunConfig(epochs=2, synthetic_examples=1280)
    text = render_notebook(make_plan(config, LAPTOP))
    (tmp_path / "train.ipynb").write_text(text)
    printed = execute(nbformat.reads(text, as_version=4), tmp_path)
    epochs = [line for line in printed.splitlines() if line.startswith("epoch ")]
    assert [line.partition(":")[0] for line in epochs] == ["epoch 1", "epoch 2"]
    assert (tmp_path / "run" / "model.keras").is_file()
    assert json.loads((tmp_path / "train.ipynb").read_text()) == json.loads(text)
    again = execute(nbformat.reads(text, as_version=4), tmp_path)
    assert "epoch " not in again  # all epochs are done


@pytest.mark.parametrize(("loop", "line"), [("custom", "epoch 1, "), ("fit", "50/50 - ")])
def test_a_cell_starts_the_tasks_of_a_coordinator(loop: str, line: str, tmp_path: Path) -> None:
    config = RunConfig(strategy="parameter_server", loop=loop, epochs=1, synthetic_examples=3200)
    text = render_notebook(make_plan(config, LAPTOP))
    printed = execute(nbformat.reads(text, as_version=4), tmp_path)
    assert sum(each.startswith(line) for each in printed.splitlines()) == 1
    assert (tmp_path / "run" / "model.keras").is_file()


def test_a_model_of_a_file_beside_the_notebook_trains_in_it(tmp_path: Path) -> None:
    config = RunConfig(loop="fit", model=f"{OWN}:plain", epochs=2, synthetic_examples=1280)
    text = render_notebook(make_plan(config, LAPTOP))
    shutil.copy(OWN, tmp_path)
    printed = execute(nbformat.reads(text, as_version=4), tmp_path)
    assert "Epoch 2/2" in printed
    assert "val_loss" in printed
    assert (tmp_path / "run" / "model.keras").is_file()
