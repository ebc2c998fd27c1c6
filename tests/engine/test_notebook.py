"""An exported notebook trains in a kernel and prints the numbers of the script."""

import json
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.machines import LAPTOP
from tests.waiting import LIMIT_SECONDS
from workbench.codegen import render_notebook
from workbench.config import RunConfig
from workbench.plan import make_plan

pytestmark = pytest.mark.slow


def test_all_cells_run_and_print_the_epochs(tmp_path: Path) -> None:
    config = RunConfig(loop="fit", epochs=2, synthetic_examples=1280)
    text = render_notebook(make_plan(config, LAPTOP))
    (tmp_path / "train.ipynb").write_text(text)
    notebook = nbformat.reads(text, as_version=4)
    client = NotebookClient(
        notebook, timeout=round(LIMIT_SECONDS), resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    printed = "".join(output.get("text", "") for output in notebook.cells[-1].outputs)
    assert "epoch epoch=1 step=10 loss=" in printed
    assert "finished step=20 loss=" in printed
    assert not (tmp_path / "worker-0").exists()
    assert json.loads((tmp_path / "train.ipynb").read_text()) == json.loads(text)
