"""`workbench scale`: the answer as text, with known and unknown numbers, and the errors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.experiments.scalings import BOUND_NOISE, KNOWN_NOISE, UNKNOWN_NOISE, scaling_of
from tests.widgets.folders import write_run
from workbench.cli import main
from workbench.cli.commands.scale import report
from workbench.experiments.noise_scale import NO_NOISE
from workbench.experiments.scaling import best_of, goodputs


def test_the_answer_comes_first_then_the_scale_and_larger_batches() -> None:
    lines = report(scaling_of(KNOWN_NOISE)).splitlines()
    assert lines[0] == scaling_of(KNOWN_NOISE).sentence
    scale = "after 156 steps    1,152 examples (95 %: 900 to 1,500); measured on 256 gradients"
    assert scale in lines[2]
    rows = [line.split() for line in lines[4:8]]
    assert rows[0][:3] == ["GLOBAL", "BATCH", "REPLICAS"]
    assert rows[2] == ["256", "4", "82%", "78%", "to", "85%", "1.82", "1.78", "to", "1.85"]


def test_speed_and_goodput_stand_side_by_side() -> None:
    text = report(scaling_of(KNOWN_NOISE))
    assert "this  128           1,000       90%         900      875 to 921" in text
    assert "Its replicas share a device" in text


def test_a_lower_bound_is_shown_as_at_least() -> None:
    text = report(scaling_of(BOUND_NOISE))
    assert "at least 2,700 examples (95 %)" in text
    assert "128 (now)     2         unknown     at least 95%" in text


def test_an_unknown_number_is_shown_as_unknown() -> None:
    text = report(scaling_of(UNKNOWN_NOISE))
    assert f"unknown: {NO_NOISE}" in text
    assert "0%" not in text


@pytest.mark.parametrize(
    ("large", "text"), [(1_900.0, "No run is clearly"), (9_000.0, "b has the best")]
)
def test_the_best_goodput_is_named_only_if_the_interval_decides_it(large: float, text: str) -> None:
    good = goodputs(KNOWN_NOISE, {"a": (64, 1_000.0), "b": (1_024, large)})
    assert text in report(replace(scaling_of(KNOWN_NOISE), goodput=good, best=best_of(good)))


def test_a_run_without_a_checkpoint_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["scale", str(write_run(tmp_path).dir)]) == 1
    assert (
        "saved no checkpoint yet, so there are no trained weights to measure. Let it"
        in capsys.readouterr().err
    )


def test_a_figure_never_overwrites_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "kept.html"
    page.write_text("mine")
    assert main(["scale", str(write_run(tmp_path).dir), "--html", str(page)]) == 1
    assert "Cannot save the figure as" in capsys.readouterr().err
    assert page.read_text() == "mine"
