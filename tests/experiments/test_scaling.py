"""The meaning of a noise scale for a run: the sentence, larger batches, and goodput."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.experiments.scalings import BOUND_NOISE, KNOWN_NOISE, UNKNOWN_NOISE, scaling_of
from tests.experiments.timed_runs import ONE, timed_run
from tests.widgets.folders import CONFIG, write_run
from workbench.experiments.noise_scale import NO_DIRECTION, NO_NOISE
from workbench.experiments.scaling import (
    TIMES,
    best_of,
    expected_seconds,
    goodputs,
    should_scale,
    speeds_of,
)
from workbench.runs import Run, RunError

SPEEDS = {"small": (64, 1_000.0), "large": (1_024, 1_900.0)}


def test_a_known_scale_gives_the_limit_and_the_gain_of_twice_the_replicas() -> None:
    assert scaling_of(KNOWN_NOISE).sentence == (
        "Yes: more replicas help nearly in full up to about 130 examples per step; yours takes "
        "128. In batches of about 1,200 (the gradient noise scale), an example helps half as much "
        "as in small batches. With twice the replicas, training reaches the same loss at most 1.8 "
        "times as fast."
    )


@pytest.mark.parametrize(
    ("batch", "lead"), [(128, "Yes: "), (129, "In part: "), (1_152, "In part: "), (1_153, "Hardly")]
)
def test_the_first_word_is_the_answer(batch: int, lead: str) -> None:
    assert scaling_of(KNOWN_NOISE, batch).sentence.startswith(lead)


def test_a_lower_bound_gives_at_least_and_the_reason() -> None:
    assert scaling_of(BOUND_NOISE).sentence == (
        "Yes: more replicas help nearly in full up to at least 300 examples per step; yours takes "
        f"128. Where that ends is unknown: {NO_DIRECTION}."
    )
    assert scaling_of(BOUND_NOISE, 512).sentence.startswith("More replicas help")


def test_an_unknown_scale_gives_the_reason() -> None:
    unknown = scaling_of(UNKNOWN_NOISE)
    assert unknown.sentence == f"It is unknown how far more replicas help: {NO_NOISE}."
    assert unknown.goodput[0].goodput is None
    assert unknown.best is None


def test_the_remaining_worth_of_an_example_falls_with_the_batch() -> None:
    rows = scaling_of(KNOWN_NOISE).larger
    assert [row.global_batch_size for row in rows] == [128, 256, 512, 1_024, 2_048]
    shares = [row.efficiency or 0.0 for row in rows]
    assert shares[0] == pytest.approx(0.9)
    assert shares == sorted(shares, reverse=True)
    assert rows[0].most_speedup == 1
    for row in rows[1:]:
        assert row.efficiency_low < row.efficiency < row.efficiency_high  # type: ignore[operator]
        assert 1 < row.most_speedup_low < row.most_speedup < row.times  # type: ignore[operator]


def test_the_best_goodput_may_differ_from_the_best_throughput() -> None:
    good = goodputs(KNOWN_NOISE, SPEEDS)
    assert [each.name for each in good] == ["large", "small"]
    assert good[0].goodput == pytest.approx(1_900 * 1_152 / (1_152 + 1_024))
    slow = goodputs(KNOWN_NOISE, {**SPEEDS, "large": (1_024, 1_500.0)})
    assert [each.name for each in slow] == ["small", "large"]
    assert best_of(slow) == "small"


def test_there_is_no_best_if_the_order_differs_within_the_interval() -> None:
    good = goodputs(KNOWN_NOISE, SPEEDS)
    assert good[0].name == "large"
    assert good[0].goodput_low < good[1].goodput_low  # type: ignore[operator]
    assert best_of(good) is None


def test_without_an_upper_end_goodput_has_only_a_lower_bound() -> None:
    (one,) = goodputs(BOUND_NOISE, {"this": (300, 1_000.0)})
    assert (one.goodput, one.goodput_high) == (None, None)
    assert one.goodput_low == pytest.approx(900)
    assert best_of((one,)) == "this"


def test_the_answer_becomes_json_with_its_sentence() -> None:
    values = scaling_of(BOUND_NOISE).to_json()
    assert values["noise_scale"]["high"] is None
    assert values["sentence"].startswith("Yes: more replicas")
    assert [row["times"] for row in values["larger"]] == list(TIMES)


def test_the_answer_has_a_figure() -> None:
    assert "after 156 steps" in [trace.name for trace in scaling_of(KNOWN_NOISE).figure().data]


def test_runs_of_another_model_are_refused(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    other = write_run(tmp_path, config=replace(CONFIG, synthetic_noise=0.5, precision="float64"))
    with pytest.raises(RunError, match=r"it has another data, precision\. Leave it out"):
        speeds_of(run, [other])


def test_a_run_without_a_speed_is_refused(tmp_path: Path) -> None:
    run, other = write_run(tmp_path), write_run(tmp_path, "stopped", steps=0)
    with pytest.raises(RunError, match=r"no speed yet\. Leave it out"):
        speeds_of(run, [other])


def test_a_run_without_a_checkpoint_is_refused_and_unchanged(tmp_path: Path) -> None:
    run: Run = write_run(tmp_path)
    with pytest.raises(RunError, match="has saved no checkpoint yet"):
        should_scale(run)
    assert not (run.dir / "noise.json").exists()


def test_the_expected_seconds_come_from_the_run_itself(tmp_path: Path) -> None:
    assert expected_seconds(write_run(tmp_path)) is None
    run = timed_run(tmp_path / "timed", ONE, examples_per_second=1_000.0)
    start = sum(entry.seconds for entry in run.ledger.first_step[1:])
    assert expected_seconds(run, 50) == pytest.approx(start + 50 * 64 / 1_000)
    assert expected_seconds(run, 1_000) == pytest.approx(start + 100 * 64 / 1_000)  # a pass
