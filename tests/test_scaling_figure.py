"""Tests of the figure of efficiency against the global batch size."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.charts.scaling import scaling_figure

CURVES = [(0, 50.0, 40.0, 60.0), (156, 1_000.0, 800.0, 1_300.0)]


def test_each_point_of_training_has_a_line_and_the_last_one_an_interval() -> None:
    figure = scaling_figure(CURVES, 128)
    named = {trace.name: trace for trace in figure.data if trace.name}
    assert set(named) == {"first weights", "after 156 steps", "95 % interval"}
    line = named["after 156 steps"]
    half = np.interp(1_000, line.x, line.y)
    assert half == pytest.approx(0.5, abs=1e-3)
    assert min(line.x) <= 128 / 10
    assert max(line.x) >= 13_000


def test_the_batch_and_the_noise_scale_are_marked_on_a_log_axis() -> None:
    layout = scaling_figure(CURVES, 128).layout
    assert layout.xaxis.type == "log"
    assert [shape.x0 for shape in layout.shapes] == [128, 1_000]
    assert [note.text for note in layout.annotations] == ["this run: 128", "noise scale: 1,000"]
    assert layout.paper_bgcolor == layout.plot_bgcolor == "rgba(0,0,0,0)"


def test_a_band_without_an_upper_end_reaches_the_top_and_has_no_line() -> None:
    figure = scaling_figure([(156, None, 800.0, None)], 128)
    assert [trace.name for trace in figure.data] == [None, "95 %: at least"]
    assert set(figure.data[0].y) == {1.0}
    assert len(figure.layout.shapes) == 1


def test_unknown_values_are_left_out() -> None:
    figure = scaling_figure([(156, None, None, None)], 128)
    assert len(figure.data) == 0
    assert len(figure.layout.shapes) == 1
