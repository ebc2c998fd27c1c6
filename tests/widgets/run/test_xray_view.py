"""The X-ray on the page: drawn and told in words, escaped, asked for and refused."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.waiting import until
from tests.widgets.folders import write_run
from tests.widgets.parts.test_markup import EVIL
from workbench import units
from workbench.widgets.pictures.xray import MOST, draw
from workbench.widgets.run.xray_view import Xray, own_steps, page, summary


def told(replicas: int = 2, copies: int | None = None) -> dict[str, Any]:
    """What `Run.xray` returns of a step of so many replicas."""
    each = [
        {
            "replica": at, "name": f"replica {at}", "task": "worker-0",
            "device": f"CPU:{at}", "examples": 64, "rows": [at, 100 + at, 7, 8],
            "loss_sum": 32.5 + at, "recorded_loss_sum": 32.5 + at, "difference": 0.0,
            "correct": 40.0, "contribution": 0.25, "loss": 0.25, "gradient_norm": 0.375,
            "sum_norm": 0.625,
        }
        for at in range(replicas)
    ]  # fmt: skip
    after = [{"device": f"CPU:{at}", "sha256": "5e304dcaa9bd"} for at in range(copies or replicas)]
    return {
        "step": 1234, "epoch": 2, "started_at_step": 1200, "examples": 128, "loss": 0.5,
        "strategy_label": "Mirrored", "virtual": True, "clip_norm": None, "applied_norm": None,
        "sum_norm": 0.625, "divides_by_batch": True, "agrees": True, "replicas": each,
        "weights": {"before": [], "after": after, "differing": [], "own": [], "numbers": 321,
                    "equal": True, "changed": True},
    }  # fmt: skip


def unequal() -> dict[str, Any]:
    values = told()
    values["weights"]["after"][1]["sha256"] = "0badc0ffee00"
    values["weights"].update(equal=False, differing=["dense/kernel"])
    return values


def texts(picture: str) -> list[str]:
    """Every text that is drawn."""
    svg = re.search(r"<svg.*</svg>", picture)
    assert svg is not None
    return ["".join(node.itertext()) for node in ElementTree.fromstring(svg[0]).iter("text")]


def test_the_diagram_holds_the_numbers_of_the_step() -> None:
    drawn = texts(draw(told()))
    assert "global batch of step 1,234: 128 examples, dealt out" in drawn
    assert drawn.count("64 examples") == 2
    for words in ("no. 0, 100, 7 ...", "no. 1, 101, 7 ...", "replica 0", "replica 1",
                  "virtual CPU:1", "32.5000", "33.5000", "÷ 128",
                  "all-reduce: sum of the gradients, norm 0.625000",
                  "Both copies of the weights are equal, bit by bit (321 numbers)."):  # fmt: skip
        assert words in drawn, words
    assert drawn.count("= 0.250000") == drawn.count("0.375000") == 2
    assert drawn.count("5e304dcaa9bd") == 2
    assert drawn.count("equal=") == 1


def test_copies_that_differ_are_told_in_words() -> None:
    drawn = texts(draw(unequal()))
    assert "not equal≠" in drawn
    assert "Not equal: the copies of the weights differ." in drawn
    assert "The copies of the weights are not equal: dense/kernel." in page(unequal())


def test_one_copy_is_on_the_host() -> None:
    shown = draw(told(copies=1))
    assert "one copy of the weights, on the host (CPU:0)" in texts(shown)
    assert "reduce to the host: sum of the gradients, norm 0.625000" in texts(shown)
    assert "equal" not in shown
    assert page(told(copies=1)).count("5e304dcaa9bd (one copy)") == 2


def test_one_replica_has_nothing_to_sum() -> None:
    drawn = texts(draw(told(1)))
    assert "one replica: nothing to sum, norm 0.625000" in drawn
    assert "global batch of step 1,234: 128 examples" in drawn


def test_a_clipped_sum_tells_both_norms() -> None:
    values = {**told(), "clip_norm": 0.5, "applied_norm": 0.5}
    assert "norm 0.625000, clipped to 0.500000" in draw(values)


def test_of_many_replicas_the_first_are_drawn_and_all_are_listed() -> None:
    shown = page(told(11))
    assert f"replica {MOST - 1}" in texts(shown)
    assert f"replica {MOST}" not in texts(shown)
    assert f"and {11 - MOST} more replicas" in shown
    assert shown.count("<tr>") == 1 + 11


def test_a_screen_reader_hears_the_step() -> None:
    (label,) = re.findall(r'<svg[^>]* role="img"[^>]*aria-label="([^"]+)"', draw(told()))
    assert label.startswith("Step 1234: 128 examples. replica 0 took 64 examples, loss sum 32.5")
    assert label.endswith("Both copies of the weights are equal, bit by bit (321 numbers).")


def test_what_is_not_known_or_not_finite_is_said() -> None:
    values = told()
    values["replicas"][0].update(loss_sum=None, gradient_norm=None, rows=None)
    values.update(agrees=None, sum_norm=None)
    shown = page(values)
    assert "norm not finite" in shown
    assert "a gradient is not finite, so neither is the sum" in shown
    assert "not in the training set" in texts(shown)
    assert "The run has no record of this step" in shown
    assert "recorded" not in texts(shown)
    assert "None" not in shown


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"agrees": False}, "has other numbers"),
        ({"agrees": True}, "has the same examples and loss sums"),
        ({"divides_by_batch": False}, "What each replica differentiated is not its loss sum"),
    ],
)
def test_what_is_to_be_said_of_it_stands_below(changes: dict[str, Any], words: str) -> None:
    assert words in page({**told(), **changes})


def test_text_from_outside_is_escaped_and_nothing_runs() -> None:
    values = unequal()
    values["weights"].update(differing=[EVIL], own=[EVIL])
    values["replicas"][0]["device"] = EVIL
    values["weights"]["after"][0] = {"device": EVIL, "sha256": EVIL}
    for made in (page(values), page({**copy.deepcopy(values), "agrees": False})):
        assert "<img" not in made
        assert '"alert' not in made
        assert "<script" not in made


def test_a_step_that_was_not_done_is_refused_beside_the_field(tmp_path: Path) -> None:
    view = Xray()
    view.show(write_run(tmp_path), "finished")
    view._step.value = 156
    view._ask.click()
    until(lambda: "from 0 to 155; received 156" in view._state.value)
    assert "Problem: " in view._state.value
    assert not view._ask.disabled


def test_what_another_run_gave_is_not_shown(tmp_path: Path) -> None:
    view = Xray()
    first, second = write_run(tmp_path), write_run(tmp_path)
    view.show(first, "finished")
    view._show(first, told())
    assert "Step 1,234 of epoch 2, done again from step 1,200 on." in view._state.value
    assert "<svg" in view._picture.value
    view.show(second, "finished")
    assert view._picture.value == ""
    view._show(first, told())
    assert view._picture.value == ""


def test_of_several_workers_the_box_has_both_names_and_the_device_alone() -> None:
    values = told()
    for at, replica in enumerate(values["replicas"]):
        replica.update(name=f"worker {at}, replica {at}", device=f"worker-{at}/CPU:0")
    shown = texts(draw(values))
    assert "worker 1, replica 1" in shown
    assert shown.count("CPU:0") == 2


def test_workers_without_a_common_step_are_told_of_one_by_one() -> None:
    done = {"loss_sum": 32.5, "loss": 0.5, "correct": 40.0, "staleness": 3}
    workers = [
        {"task": "worker-0", "examples": 64, "rows": [7, 1], **done},
        {"task": "worker-1", "examples": 64, "rows": [5, 2], **dict.fromkeys(done)},
    ]
    values = {"step": 12, "strategy_label": "ParameterServer", "workers": workers}
    assert summary(values) == "Step 12 of each worker, which is its own: they wait for nobody."
    shown = own_steps(values)
    assert "<td>worker\u00a00</td>" in shown
    assert "32.5000" in shown
    assert "7, 1" in shown
    assert "5, 2" in shown
    assert shown.count(units.UNKNOWN) == 4
