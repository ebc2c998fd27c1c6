"""What each replica reports of a step: the sum of its losses, its correct answers, its examples."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.forked import run_program

STEPS = Path(__file__).parent / "steps.py"
NAN = pytest.approx(float("nan"), nan_ok=True)
BATCHES = [[[0, 1, 2], [3, 4, 5]], [[6, 7], [8, 9]]]
"""The examples of each replica in both steps."""


@pytest.fixture(scope="module")
def found() -> dict[str, list[Any]]:
    lines = run_program([STEPS]).stdout.splitlines()
    return {case["case"]: case["found"] for case in map(json.loads, lines)}


def rows(found: list[Any]) -> list[list[list[float]]]:
    """Return the rows of both steps."""
    return [[row[:3] for row in step] for _, _, rows, _ in found for step in rows]


def scalars(found: list[Any]) -> list[dict[str, list[float]]]:
    """Return the other numbers of both steps by their names: one of each replica."""
    return [
        {name: [row[at] for row in step] for at, name in enumerate(names, 3)}
        for _, names, rows, _ in found
        for step in rows
    ]


@pytest.mark.parametrize(
    "case", ["scalar", "compiled", "training", "scaled", "eager", "shared_out", "tracked"]
)
def test_a_scalar_that_a_step_returns_is_the_mean_loss_of_its_examples(
    found: dict[str, list[Any]], case: str
) -> None:
    scale = 2 if case in ("training", "scaled", "eager") else 1
    expected = [[[sum(part) * scale, NAN, len(part)] for part in step] for step in BATCHES]
    assert rows(found[case]) == [[pytest.approx(row) for row in step] for step in expected]


@pytest.mark.parametrize("case", ["named", "variables"])
def test_named_scalars_are_found_by_name_whatever_the_phase_before_it(
    case: str, found: dict[str, list[Any]]
) -> None:
    for step, batch in zip(rows(found[case]), BATCHES, strict=True):
        for row, part in zip(step, batch, strict=True):
            assert row == pytest.approx([sum(part), len(part) / 2, len(part)])


def test_metrics_give_the_sums_that_they_are_given(found: dict[str, list[Any]]) -> None:
    for step, batch in zip(rows(found["metrics"]), BATCHES, strict=True):
        for row, part in zip(step, batch, strict=True):
            assert row == [sum(part), sum(each <= 3 for each in part), len(part)]


def test_all_other_numbers_are_found_by_name_as_means_over_the_examples(
    found: dict[str, list[Any]],
) -> None:
    for step, batch in zip(scalars(found["several"]), BATCHES, strict=True):
        counted = [[each for each in part if each > 1] for part in batch]
        assert step == {
            "spread": [pytest.approx(sum(part) / len(part)) for part in counted],
            "largest": [max(part) for part in batch],
        }
    assert set(scalars(found["metrics"])[0]) == {"binary_accuracy"}
    assert scalars(found["named"]) == [{}, {}]


def numbers_in_rows(part: list[int]) -> tuple[int, int]:
    """Return how many examples of a replica each of two rows gets."""
    return sum(each <= 4 for each in part), sum(each > 4 for each in part)


@pytest.mark.parametrize(
    ("case", "norm"),
    [
        ("training", lambda part: sum(part) / len(part)),
        ("eager", lambda part: sum(part) / len(part)),
        ("scaled", lambda part: sum(part) / len(part)),
        ("clipped", lambda part: sum(part) / len(part)),
        ("accumulated", sum),
        ("in_a_function", lambda part: sum(part) / len(part)),
        ("in_a_function_eager", lambda part: sum(part) / len(part)),
        ("recomputed", lambda part: sum(part) / len(part)),
        ("rows_of_a_table", lambda part: math.hypot(1, *numbers_in_rows(part))),
        ("each_its_optimizer", lambda part: math.hypot(1, sum(part) / len(part))),
        ("with_penalty", lambda part: math.hypot(4, sum(part) / len(part))),
    ],
)
def test_the_norm_of_each_replicas_own_gradient_is_found_where_it_is_asked_for(
    found: dict[str, list[Any]], case: str, norm: Callable[[list[int]], float]
) -> None:
    expected = [[pytest.approx(norm(part)) for part in step] for step in BATCHES]
    assert scalars(found[f"norm_{case}"]) == [{"gradient_norm": step} for step in expected]


@pytest.mark.parametrize("case", ["norm_scalar", "training"])
def test_without_a_gradient_or_a_question_there_is_no_norm(
    found: dict[str, list[Any]], case: str
) -> None:
    assert scalars(found[case]) == [{}, {}]


def test_parts_that_a_metric_is_given_count_together(found: dict[str, list[Any]]) -> None:
    for step, batch in zip(rows(found["in_parts"]), BATCHES, strict=True):
        for row, part in zip(step, batch, strict=True):
            assert row == pytest.approx([sum(part), NAN, len(part)], nan_ok=True)


def test_results_of_metrics_that_count_earlier_steps_are_no_numbers_of_a_step(
    found: dict[str, list[Any]],
) -> None:
    assert [set(step) for step in scalars(found["running"])] == [
        {"top_accuracy", "binary_accuracy"}
    ] * 2
    names = {"a_loss", "b_loss", "a_mae", "b_mae", "b_mse"}
    assert [set(step) for step in scalars(found["fitted"])] == [names] * 2
    for step in scalars(found["fitted"]):
        assert step["b_mse"] == pytest.approx(step["b_loss"])
        assert step["a_mae"] != step["b_mae"]


def test_steps_that_report_different_numbers_keep_their_order(
    found: dict[str, list[Any]],
) -> None:
    (least, most), *_ = zip(*[(min(part), max(part)) for part in BATCHES[0]], strict=True), None
    steps = scalars(found["in_turn"])
    assert len(steps) == 4
    assert steps[0] == {"d_loss": list(least), "g_loss": [NAN, NAN], "kl": [NAN, NAN]}
    assert steps[1] == {"d_loss": [NAN, NAN], "g_loss": list(most), "kl": [1, 1]}
    assert [step["kl"][0] for step in steps] == [NAN, 1, NAN, 1]


def test_what_replicas_report_by_different_names_is_left_out(found: dict[str, list[Any]]) -> None:
    assert scalars(found["by_replica"]) == [{}, {}]
    assert [len(step) for step in rows(found["by_replica"])] == [2, 2]


def test_the_weights_of_examples_count_as_examples(found: dict[str, list[Any]]) -> None:
    for step, batch in zip(rows(found["weighted"]), BATCHES, strict=True):
        for row, part in zip(step, batch, strict=True):
            counted = [each for each in part if each > 1]
            assert row == [sum(counted), NAN, len(counted)]


def test_a_step_that_updates_weights_trains_and_all_others_test(
    found: dict[str, list[Any]],
) -> None:
    cases = {case: each for case, each in found.items() if each and not case.startswith("norm_")}
    kinds = {case: {trains for trains, *_ in each} for case, each in cases.items()}
    training = {case for case, kind in kinds.items() if kind == {True}}
    assert training == {"training", "scaled", "eager", "fitted"}
    assert set().union(*kinds.values()) == {True, False}


def test_a_step_that_reports_nothing_leaves_no_row(found: dict[str, list[Any]]) -> None:
    assert found["silent"] == []


def test_nothing_is_recorded_after_the_wraps_are_off(found: dict[str, list[Any]]) -> None:
    assert found["undone"] == []


def test_each_step_has_its_own_time(found: dict[str, list[Any]]) -> None:
    assert all(apart > 0 for *_, apart in found["training"])
