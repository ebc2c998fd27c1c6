"""The predictions, the scaling and the X-rays in a report, as the run's folder keeps them."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from tests.experiments.scalings import KNOWN_NOISE, scaling_of
from tests.report.evaluations import EVALUATION
from tests.widgets.folders import CONFIG, write_model, write_run
from tests.widgets.run.xrays import step_xray
from workbench.report import write_report
from workbench.report.measured import MOST_XRAYS
from workbench.runs import Run
from workbench.runs.folder.files import json_text
from workbench.runs.programs.step_xray import WorkersXray, WorkerXray


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A finished run of which nothing was measured yet."""
    made_run = write_run(tmp_path)
    write_model(made_run.dir)
    return made_run


def page_of(run: Run) -> str:
    return write_report([run], run.dir.parent / "report.html").read_text()


def keep_xrays(run: Run, *indices: int) -> None:
    """Write X-rays of these steps, counted from 0."""
    for index in indices:
        text = json_text(asdict(replace(step_xray(), step=index)))
        (run.dir / f"xray-{index}.json").write_text(text)


def test_what_was_not_measured_is_not_mentioned(run: Run) -> None:
    page = page_of(run)
    for title in ("Predictions", "Should I scale?", "X-ray"):
        assert f"<h4>{title}</h4>" not in page


def test_predictions_are_shown_by_class_with_the_confusions(run: Run) -> None:
    (run.dir / "evaluation.json").write_text(json.dumps(EVALUATION))
    page = page_of(run)
    assert "Test accuracy 90.00%, test loss 0.25, of the saved model." in page
    assert '<th scope="row">Shirt</th><td>10</td><td>80.00%</td>' in page
    assert "Shirt is taken for Coat in 2 of 10 tests." in page
    assert '<th scope="row">Shirt</th><td>8</td><td>2</td>' in page


def test_predictions_of_other_weights_are_left_out(run: Run) -> None:
    (run.dir / "evaluation.json").write_text(json.dumps({**EVALUATION, "checkpoint_step": 10}))
    assert "<h4>Predictions</h4>" not in page_of(run)


def test_the_scaling_is_shown_with_its_bars_and_numbers(run: Run) -> None:
    found = scaling_of(KNOWN_NOISE)
    (run.dir / "noise.json").write_text(json_text(found.to_json()))
    page = page_of(run)
    assert found.sentence in page
    assert "Statistical efficiency. 128 on 2 replicas (now): 90%" in page
    assert '<th scope="row">256</th><td>4</td><td>82%</td>' in page


def test_an_xray_is_drawn_with_all_its_numbers(run: Run) -> None:
    keep_xrays(run, 1233)
    page = page_of(run)
    assert "Step 1,234 of epoch 2, repeated from the checkpoint of step 1,200." in page
    assert 'class="wb-picture wb-xray"' in page
    assert '<th scope="col">Gradient norm</th>' in page


def test_the_last_of_many_xrays_are_shown(run: Run) -> None:
    keep_xrays(run, *range(MOST_XRAYS + 2))
    page = page_of(run)
    assert page.count('class="wb-picture wb-xray"') == MOST_XRAYS
    assert "<summary>Step 3 of" in page
    assert "<summary>Step 2 of" not in page
    assert "The first 2 X-rays are left out." in page


def test_workers_that_step_apart_have_their_own_steps(tmp_path: Path) -> None:
    run = write_run(tmp_path, steps=0, config=replace(CONFIG, strategy="parameter_server"))
    worker = WorkerXray("worker-0", 64, [1], 32.0, 0.5, 40.0, 3)
    xray = WorkersXray(4, "ParameterServer", [worker])
    (run.dir / "xray-4.json").write_text(json_text(asdict(xray)))
    page = page_of(run)
    assert "Each worker's own step 5" in page
    assert "<td>32.0000</td><td>0.500000</td><td>40</td><td>3</td>" in page


@pytest.mark.parametrize("name", ["noise.json", "xray-3.json"])
def test_a_damaged_measurement_is_reported_in_its_place(run: Run, name: str) -> None:
    (run.dir / name).write_text("{}")
    assert "Measure again; that replaces the file." in page_of(run)
