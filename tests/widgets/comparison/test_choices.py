"""The choices of a comparison, the colours of its rows, and its pictures."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tests.experiments.timed_runs import ONE, timed_run
from tests.experiments.written import write_comparison
from tests.waiting import until
from tests.widgets.comparison.views import RATES, comparison_view
from workbench.charts.style import REPLICA_COLORS
from workbench.config import RunConfig
from workbench.experiments import Group, make_table
from workbench.widgets.comparison.colors import KEPT, read_colors
from workbench.widgets.comparison.form import ComparisonForm
from workbench.widgets.pictures.comparison import Line, bars, curves, table


def test_pictures_without_results_are_empty_and_text_is_escaped() -> None:
    empty = make_table([Group("<b>tpu</b>", reason="<script>")])
    assert bars(empty) == ""
    assert curves([], "Loss", "steps") == ""
    assert "<script>" not in table(empty, [""])
    assert "<b>tpu" not in table(empty, [""])


def test_curves_are_described_as_text_too(tmp_path: Path) -> None:
    line = Line("one & two", 0, np.arange(1000.0), np.append(np.nan, np.ones(999)))
    drawn = curves([line], "Loss", "steps")
    assert 'aria-label="Loss over steps: one &amp; two ends at 1"' in drawn
    assert len(re.findall(r"\d,\d", drawn)) <= 500


@pytest.mark.parametrize("points", [1, 2, 399, 400, 401, 799, 998, 2000])
def test_a_curve_is_drawn_from_its_first_to_its_last_point(points: int) -> None:
    steps = np.arange(1.0, points + 1)
    drawn = curves([Line("one", 0, steps, steps)], "Loss", "steps")
    assert f"one ends at {points}" in drawn
    (line,) = re.findall(r'<polyline points="(.*?)"', drawn)
    places = line.split()
    assert len(set(places)) == len(places)
    assert min(points, 200) <= len(places) <= min(points, 402)
    assert float(places[-1].split(",")[0]) == 708


@pytest.mark.parametrize("peak", [1.0, -1.0])
def test_a_long_curve_keeps_a_peak_of_a_single_point(peak: float) -> None:
    values = np.zeros(1999)
    values[[77, 1234]] = peak, -peak
    drawn = curves([Line("one", 0, np.arange(1999.0), values)], "Loss", "steps")
    (line,) = re.findall(r'<polyline points="(.*?)"', drawn)
    heights = [float(place.split(",")[1]) for place in line.split()]
    assert heights.count(max(heights)) == heights.count(min(heights)) == 1
    assert max(heights) - min(heights) == 188


def test_long_names_next_to_bars_keep_both_ends(tmp_path: Path) -> None:
    name = f"{'a' * 40}{'b' * 40}"
    drawn = bars(make_table([Group(name, (timed_run(tmp_path, ONE, 1000.0),))]))
    assert f">{'a' * 17}…{'b' * 16}</text>" in drawn
    assert f'aria-label="{name}: 1,000 examples per second"' in drawn


def test_precisions_and_xla_vary_if_they_are_ticked() -> None:
    form = ComparisonForm()
    asked = form.read(RunConfig(precision="float64"))
    assert asked is not None
    assert not {"precision", "xla"} & asked.axes.keys()
    form.precisions.write(["float32", "mixed_bfloat16"])
    form.xla.write(["off", "on"])
    asked = form.read(RunConfig())
    assert asked is not None
    assert asked.axes["precision"] == ["float32", "mixed_bfloat16"]
    assert asked.axes["xla"] == [False, True]


def test_replicas_and_workers_vary_if_counts_are_typed() -> None:
    form = ComparisonForm()
    asked = form.read(RunConfig())
    assert asked is not None
    assert not {"replicas", "workers"} & asked.axes.keys()
    form.replicas.control.value, form.workers.control.value = "1 2", "2, 4"
    asked = form.read(RunConfig())
    assert asked is not None
    assert (asked.axes["replicas"], asked.axes["workers"]) == ([1, 2], [2, 4])


@pytest.mark.parametrize(
    ("target", "steps", "expected"),
    [
        ("", "2,000", (1, 2000)),
        ("0.9", "2,000", (5, 400)),
        ("0.9", "3", (5, 1)),
        ("", "", (1, 3000)),
        ("0.9", "", (5, 600)),
    ],
)
def test_with_a_target_the_steps_are_spread_over_the_epochs_of_the_form(
    target: str, steps: str, expected: tuple[int, int]
) -> None:
    form = ComparisonForm()
    form.target.control.value, form.steps.control.value = target, steps
    asked = form.read(RunConfig(epochs=5))
    assert asked is not None
    assert (asked.config.epochs, asked.config.steps_per_epoch) == expected


@pytest.mark.parametrize(
    ("field", "typed", "words"),
    [
        ("replicas", "two", "must be a whole number; got two"),
        ("workers", "2; 4", "must be a whole number; got 2;"),
        ("sizes", "64, x", "must be a whole number; got x"),
        ("repeats", "", "must be a whole number; got nothing"),
        ("target", "90 %", "must be a finite number; got 90 %"),
    ],
)
def test_an_unreadable_value_is_shown_next_to_the_field(
    field: str, typed: str, words: str, tmp_path: Path
) -> None:
    shown = comparison_view(tmp_path)
    asked = getattr(shown._form, field)
    asked.control.value = typed
    shown._start.click()
    assert words in asked.problems
    assert not list(tmp_path.iterdir())


def test_unreadable_colours_are_reported_and_only_valid_colours_are_used(tmp_path: Path) -> None:
    comparison = write_comparison(tmp_path, RATES)
    kept = comparison.folder / KEPT
    kept.write_text("{")
    shown = comparison_view(tmp_path)
    until(lambda: "<polyline" in shown._results._curves.value)
    assert "Remove that file, then choose the colours again." in shown._results._colors.note
    kept.write_text('{"colors": {"OneDevice": "#123456", "TPU": "\\"/><script>", "x": 7}}')
    assert read_colors(comparison.folder) == {"OneDevice": "#123456"}
    shown._results._colors.chosen = {"OneDevice": 'red"/><script>'}
    assert shown._results._colors.chosen == {}


def test_colours_that_cannot_be_saved_are_used_for_now(tmp_path: Path) -> None:
    comparison = write_comparison(tmp_path, RATES)
    shown = comparison_view(tmp_path)
    until(lambda: "<polyline" in shown._results._curves.value)
    (comparison.folder / KEPT).mkdir()
    shown._results._colors.chosen = {"OneDevice": "#123456"}
    lost = "The colours are not saved: they last until this notebook is closed."
    until(lambda: lost in shown._results._colors.note)
    until(lambda: 'stroke="#123456"' in shown._results._curves.value)


def test_colours_are_chosen_and_found_again(tmp_path: Path) -> None:
    comparison = write_comparison(tmp_path, RATES)
    shown = comparison_view(tmp_path)
    until(lambda: "<polyline" in shown._results._curves.value)
    assert [row["usual"] for row in shown._results._colors.rows] == list(REPLICA_COLORS[:2])
    shown._results._colors.chosen = {"Mirrored x 2": "#ffffff"}
    until(lambda: 'stroke="#ffffff"' in shown._results._curves.value)
    assert (
        'stroke="#ffffff" stroke-width="1.5" stroke-dasharray="8 4"' in shown._results._curves.value
    )
    assert 'fill="#ffffff"' in shown._results._bars.value
    until(lambda: read_colors(comparison.folder))
    again = comparison_view(tmp_path)
    until(lambda: 'stroke="#ffffff"' in again._results._curves.value)
    again._results._colors.chosen = {}
    until(lambda: "#ffffff" not in again._results._curves.value)
    until(lambda: not read_colors(comparison.folder))
