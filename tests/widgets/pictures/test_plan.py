"""The picture of a plan: a box for each part, a description, nothing cut off at any size."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.machines import EIGHT_GPUS, FOUR_GPUS, LAPTOP
from workbench import RunConfig, make_plan
from workbench.plan import Plan
from workbench.widgets.pictures.plan import draw, is_wide

TPU = replace(LAPTOP, tpu_chips=4, tpu_kind="v3")
A_LETTER = 6.4
"""The approximate width of a letter of the picture's text, in pixels."""


def plan(strategy: str, devices: Any = LAPTOP, **asked: Any) -> Plan:
    return make_plan(RunConfig(strategy=strategy, **asked), devices)


def svg(drawn: str) -> ElementTree.Element:
    found = re.search(r"<svg.*</svg>", drawn)
    assert found is not None
    return ElementTree.fromstring(found[0])


def texts(drawn: str) -> list[str]:
    return [node.text or "" for node in svg(drawn).iter("text")]


def spoken(drawn: str) -> str:
    return svg(drawn).attrib["aria-label"]


def outside(drawn: str) -> list[str]:
    """Return the boxes, and the texts by their likely width, that cross the picture's edges."""
    root = svg(drawn)
    across, down = map(float, root.attrib["viewBox"].split()[2:])
    found = []
    for node in root.iter("rect"):
        x, y, width, height = (float(node.attrib[key]) for key in ("x", "y", "width", "height"))
        if x < 0 or y < 0 or width <= 0 or x + width > across or y + height > down:
            found.append(str(node.attrib))
    for node in root.iter("text"):
        x, length = float(node.attrib["x"]), A_LETTER * len(node.text or "")
        start = x - length / 2 if "text-anchor" in node.attrib else x
        if start < 0 or start + length > across or float(node.attrib["y"]) > down:
            found.append(node.text or "")
    return found


@pytest.mark.parametrize("strategy", ["default", "one_device"])
def test_one_replica_takes_the_whole_batch(strategy: str) -> None:
    drawn = draw(plan(strategy))
    assert "examples 0 to 63" in texts(drawn)
    assert spoken(drawn) == (
        "One process with one replica on CPU:0; it takes all 64 examples of a step."
    )


def test_replicas_of_one_process_sum_their_gradients() -> None:
    drawn = draw(plan("mirrored"))
    assert {"replica 0", "replica 1", "virtual CPU:1"} <= set(texts(drawn))
    assert "each takes 64 of the 128 examples of a step" in spoken(drawn)
    assert "gradients are summed" in spoken(drawn)


def test_central_storage_has_one_copy_of_the_variables_on_the_host() -> None:
    drawn = draw(plan("central_storage"))
    assert "variables: one copy, on the host (CPU:0)" in texts(drawn)
    assert "the variables have one copy, on the host" in spoken(drawn)
    assert not any("summed" in text for text in texts(drawn))


def test_a_tpu_is_drawn_with_its_cores() -> None:
    drawn = draw(plan("tpu", TPU))
    assert {f"core TPU:{core}" for core in range(8)} <= set(texts(drawn))
    elsewhere = draw(plan("tpu", tpu="my-<b>tpu", replicas=2))
    assert "worker 0: one process, TPU my-<b>tpu" in texts(elsewhere)
    assert "<b>" not in elsewhere


@pytest.mark.parametrize("workers", [2, 4, 8])
def test_each_worker_has_its_box_and_an_all_reduce_joins_them(workers: int) -> None:
    drawn = draw(plan("multi_worker_mirrored", workers=workers))
    shown = texts(drawn)
    assert sum(text.startswith("worker ") for text in shown) == workers
    assert sum(text.startswith("all-reduce") for text in shown) == 1
    assert shown.count("64") == workers
    assert f"{workers} worker processes with 1 replica each" in spoken(drawn)
    assert "An all-reduce between the workers" in spoken(drawn)


def test_workers_hold_their_own_replicas() -> None:
    shown = texts(draw(plan("multi_worker_mirrored", FOUR_GPUS, workers=2)))
    assert [text for text in shown if text.startswith("GPU:")] == ["GPU:0", "GPU:1"] * 2
    many = draw(plan("multi_worker_mirrored", EIGHT_GPUS, workers=1))
    assert "worker 0: one process, MultiWorkerMirrored" in texts(many)


@pytest.mark.parametrize("workers", [1, 2, 4, 8])
def test_parameter_servers_chief_and_workers_without_a_common_batch(workers: int) -> None:
    asked = {"workers": workers, "parameter_servers": 2, "evaluator": True}
    drawn = draw(plan("parameter_server", **asked))
    shown = texts(drawn)
    assert {"chief 0", "ps 0", "ps 1", "evaluator 0", "worker 0"} <= set(shown)
    assert shown.count("its own 64") == workers
    assert any(text.startswith("no global batch") for text in shown)
    assert not any("global batch of one step" in text for text in shown)
    assert "reads the weights, takes 64 examples of its own and sends its gradients" in spoken(
        drawn
    )
    assert "None" not in drawn


def test_only_the_first_of_many_workers_are_drawn() -> None:
    for strategy in ("multi_worker_mirrored", "parameter_server"):
        drawn = draw(plan(strategy, workers=11))
        assert "and 3 more workers like these" in drawn


@pytest.mark.parametrize("workers", [1, 2, 4, 8])
@pytest.mark.parametrize("strategy", ["multi_worker_mirrored", "parameter_server"])
def test_pictures_of_several_workers_stay_within_their_edges(strategy: str, workers: int) -> None:
    assert outside(draw(plan(strategy, workers=workers))) == []


@pytest.mark.parametrize("replicas", [1, 2, 4, 8])
@pytest.mark.parametrize("strategy", ["mirrored", "central_storage"])
def test_pictures_of_one_process_stay_within_their_edges(strategy: str, replicas: int) -> None:
    assert outside(draw(plan(strategy, replicas=replicas))) == []


def test_pictures_of_many_replicas_take_the_full_width() -> None:
    assert not is_wide(plan("multi_worker_mirrored", workers=4))
    assert is_wide(plan("multi_worker_mirrored", workers=5))
    assert is_wide(plan("mirrored", replicas=8))
