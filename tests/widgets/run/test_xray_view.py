"""Tests of the X-ray on the page: its diagram, its words, its requests and refusals."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.waiting import until
from tests.widgets.evil import EVIL
from tests.widgets.folders import write_run
from tests.widgets.run.xrays import replica_xray, step_xray
from workbench import units
from workbench.pictures.xray import MOST, draw
from workbench.pictures.xray_words import summary
from workbench.runs.folder.trust import trust
from workbench.runs.programs.step_xray import (
    StepXray,
    WeightsCopy,
    WorkersXray,
    WorkerXray,
)
from workbench.widgets.run.xray_view import Xray, own_steps, page


def unequal(**fields: Any) -> StepXray:
    """Return a step whose two copies of the weights differ."""
    weights = step_xray().weights
    after = [weights.after[0], replace(weights.after[1], sha256="0badc0ffee00")]
    differing = {"after": after, "equal": False, "differing": ["dense/kernel"], **fields}
    return step_xray(weights=replace(weights, **differing))


def texts(picture: str) -> list[str]:
    """Return every text of the diagram."""
    svg = re.search(r"<svg.*</svg>", picture)
    assert svg is not None
    return ["".join(node.itertext()) for node in ElementTree.fromstring(svg[0]).iter("text")]


def test_the_diagram_holds_the_numbers_of_the_step() -> None:
    drawn = texts(draw(step_xray()))
    assert "global batch of step 1,234: 128 examples, split among the replicas" in drawn
    assert drawn.count("64 examples") == 2
    for words in ("no. 0, 100, 7 ...", "no. 1, 101, 7 ...", "replica 0", "replica 1",
                  "virtual CPU:1", "32.5000", "33.5000", "÷ 128",
                  "all-reduce: sum of the gradients, norm 0.625000",
                  "Both copies of the weights are equal, bit for bit (321 numbers)."):  # fmt: skip
        assert words in drawn, words
    assert drawn.count("= 0.250000") == drawn.count("0.375000") == 2
    assert drawn.count("5e304dcaa9bd") == 2
    assert drawn.count("equal=") == 1


def test_different_copies_of_the_weights_are_described_in_words() -> None:
    drawn = texts(draw(unequal()))
    assert "not equal≠" in drawn
    assert "Not equal: the copies of the weights differ." in drawn
    assert "The copies of the weights are not equal: dense/kernel." in page(unequal())


def test_a_single_copy_of_the_weights_is_on_the_host() -> None:
    shown = draw(step_xray(copies=1))
    assert "one copy of the weights, on the host (CPU:0)" in texts(shown)
    assert "reduce to the host: sum of the gradients, norm 0.625000" in texts(shown)
    assert "equal" not in shown
    assert page(step_xray(copies=1)).count("5e304dcaa9bd (one copy)") == 2


def test_one_replica_has_nothing_to_sum() -> None:
    drawn = texts(draw(step_xray(1)))
    assert "one replica: nothing to sum, norm 0.625000" in drawn
    assert "global batch of step 1,234: 128 examples" in drawn


def test_a_clipped_sum_has_both_norms() -> None:
    values = step_xray(clip_norm=0.5, applied_norm=0.5)
    assert "norm 0.625000, clipped to 0.500000" in draw(values)


def test_the_first_of_many_replicas_are_drawn_and_all_are_listed() -> None:
    shown = page(step_xray(11))
    assert f"replica {MOST - 1}" in texts(shown)
    assert f"replica {MOST}" not in texts(shown)
    assert f"and {11 - MOST} more replicas" in shown
    assert shown.count("<tr>") == 1 + 11


def test_the_diagram_has_a_description_for_screen_readers() -> None:
    (label,) = re.findall(r'<svg[^>]* role="img"[^>]*aria-label="([^"]+)"', draw(step_xray()))
    assert label.startswith("Step 1234: 128 examples. replica 0 took 64 examples, loss sum 32.5")
    assert label.endswith("Both copies of the weights are equal, bit for bit (321 numbers).")


def test_unknown_and_nonfinite_values_are_named() -> None:
    unknown = replica_xray(0, loss_sum=None, gradient_norm=None, rows=None)
    shown = page(step_xray(agrees=None, sum_norm=None, replicas=[unknown, replica_xray(1)]))
    assert "norm not finite" in shown
    assert "a gradient is not finite, so neither is the sum" in shown
    assert "not in the training set" in texts(shown)
    assert "The run has no record of this step" in shown
    assert "recorded" not in texts(shown)
    assert "None" not in shown


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"agrees": False}, "so the step was not repeated exactly"),
        ({"agrees": True}, "has the same examples and loss sums"),
        ({"divides_by_batch": False}, "What each replica differentiated is not its loss sum"),
    ],
)
def test_notes_on_the_step_are_on_the_page(changes: dict[str, Any], words: str) -> None:
    assert words in page(step_xray(**changes))


def test_text_from_outside_is_escaped() -> None:
    after = [WeightsCopy("worker-0", EVIL, EVIL), step_xray().weights.after[1]]
    xray = unequal(differing=[EVIL], own=[EVIL], after=after)
    xray = replace(xray, replicas=[replica_xray(0, device=EVIL), replica_xray(1)])
    for shown in (page(xray), page(replace(xray, agrees=False))):
        assert "<img" not in shown
        assert '"alert' not in shown
        assert "<script" not in shown


def test_a_step_that_the_run_did_not_take_is_refused_next_to_the_field(tmp_path: Path) -> None:
    view, run = Xray(), write_run(tmp_path)
    trust(run.dir)
    view.show(run, "finished")
    view._step.value = 157
    view._ask.click()
    until(lambda: "has not done step 157, only steps 1 to 156" in view._state.value)
    assert "Problem: " in view._state.value
    assert not view._ask.disabled


def test_the_xray_of_another_run_is_not_shown(tmp_path: Path) -> None:
    view = Xray()
    first, second = write_run(tmp_path), write_run(tmp_path)
    view.show(first, "finished")
    view._show(first, step_xray())
    summed_up = "Step 1,234 of epoch 2, repeated from the checkpoint of step 1,200."
    assert summed_up in view._state.value
    assert "<svg" in view._picture.value
    view.show(second, "finished")
    assert view._picture.value == ""
    view._show(first, step_xray())
    assert view._picture.value == ""


def test_a_workers_replica_has_both_numbers_and_a_short_device_name() -> None:
    replicas = [
        replica_xray(at, name=f"worker {at}, replica {at}", device=f"worker-{at}/CPU:0")
        for at in range(2)
    ]
    shown = texts(draw(step_xray(replicas=replicas)))
    assert "worker 1, replica 1" in shown
    assert shown.count("CPU:0") == 2


def test_workers_without_a_common_step_have_a_row_each() -> None:
    workers = [
        WorkerXray("worker-0", 64, [7, 1], 32.5, 0.5, 40.0, 3),
        WorkerXray("worker-1", 64, [5, 2], None, None, None, None),
    ]
    values = WorkersXray(12, "ParameterServer", workers)
    assert summary(values) == "Each worker's own step 12: workers do not wait for each other."
    shown = own_steps(values)
    assert "<td>worker\u00a00</td>" in shown
    assert "32.5000" in shown
    assert "7, 1" in shown
    assert "5, 2" in shown
    assert shown.count(units.UNKNOWN) == 4
