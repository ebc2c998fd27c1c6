"""Tests of figures: their lines, updates in place, and a picture."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
from matplotlib.image import imread

from workbench import charts
from workbench.points import Curve, EpochPoints, Points


def points(count: int, replicas: int = 2, steps_a_point: int = 1) -> Points:
    each = np.arange(count * replicas, dtype=float).reshape(count, replicas)

    def curve(scale: float, joined: float) -> Curve:
        means = scale * each
        return Curve(means, joined * each.mean(axis=1), means - 1.0, means + 1.0)

    step = np.arange(1.0, count + 1)
    return Points(
        step=step,
        examples=64 * step,
        training_seconds=step / 10,
        loss=curve(1, 1),
        accuracy=curve(0.01, 0.01),
        rate=curve(10, 20),
        nonfinite=np.zeros(each.shape, np.bool_),
        steps_a_point=steps_a_point,
    )


ONE_EPOCH = EpochPoints(*(np.array([value]) for value in (5.0, 0.5, 0.8, 0.6, 0.7)))


def test_every_chart_has_lines_for_replicas_their_mean_and_epochs() -> None:
    names = [(line.chart, line.name) for line in charts.lines(points(5), ONE_EPOCH, virtual=False)]
    for chart in range(3):
        assert (chart, "replica 0") in names
        assert (chart, "replica 1") in names
        assert (chart, charts.JOINED) in names
    for chart in (0, 1):
        assert (chart, "test, after the epoch") in names
        assert (chart, "train, whole epoch") in names


def test_ends_of_epochs_of_which_no_number_is_known_are_no_lines() -> None:
    untested = replace(ONE_EPOCH, test_loss=np.array([np.nan]), test_accuracy=np.array([np.nan]))
    names = {line.name for line in charts.lines(points(5), untested, virtual=False)}
    assert "train, whole epoch" in names
    assert "test, after the epoch" not in names


def test_one_replica_has_no_mean_line() -> None:
    lines = charts.lines(points(5, replicas=1), ONE_EPOCH, virtual=False)
    assert charts.JOINED not in [line.name for line in lines]


def test_virtual_replicas_are_named_virtual() -> None:
    figure = charts.run_figure(points(3), ONE_EPOCH, virtual=True)
    assert {trace.name for trace in figure.data} >= {"virtual replica 0", "virtual replica 1"}
    assert any("virtual" in note.text for note in figure.layout.annotations)


def test_the_name_of_a_workers_replica_has_both_numbers() -> None:
    made = charts.lines(replace(points(3), workers=2), ONE_EPOCH, virtual=True)
    assert {"worker 0, replica 0", "worker 1, replica 1"} <= {line.name for line in made}


def test_asynchronous_workers_have_no_common_line_and_no_epochs() -> None:
    apart = replace(points(3), workers=2, synchronous=False)
    names = {line.name for line in charts.lines(apart, ONE_EPOCH, virtual=False)}
    assert names == {"worker 0, replica 0", "worker 1, replica 1"}
    figure = charts.run_figure(apart, ONE_EPOCH, virtual=False)
    assert figure.layout.xaxis3.title.text == "worker's own steps"


def test_replicas_differ_in_colour_and_dash() -> None:
    styles = [charts.lines(points(2, 8), ONE_EPOCH, virtual=False)[k].style for k in range(8)]
    assert len({(style["line"]["color"], style["line"]["dash"]) for style in styles}) == 8


def test_each_replica_is_once_in_the_legend() -> None:
    figure = charts.run_figure(points(3), ONE_EPOCH, virtual=False)
    named = [trace.name for trace in figure.data if trace.showlegend]
    assert len(named) == len(set(named))
    assert {trace.name for trace in figure.data} == set(named)


def test_the_axis_names_the_steps_of_a_point() -> None:
    figure = charts.run_figure(points(4, steps_a_point=8), ONE_EPOCH, virtual=False)
    assert "8 steps" in figure.layout.xaxis3.title.text


def test_backgrounds_are_transparent() -> None:
    layout = charts.run_figure(points(2), ONE_EPOCH, virtual=False).layout
    assert layout.paper_bgcolor == layout.plot_bgcolor == "rgba(0,0,0,0)"


def test_a_run_without_points_has_a_figure() -> None:
    figure = charts.run_figure(Points.none(2), EpochPoints(), virtual=False)
    assert all(len(trace.x) == 0 for trace in figure.data)


def test_the_picture_is_a_png_with_a_transparent_background() -> None:
    pixels = imread(io.BytesIO(charts.picture(points(20), ONE_EPOCH, virtual=True)))
    assert pixels.shape[2] == 4
    assert pixels[0, 0, 3] == 0
    assert (pixels[:, :, 3] > 0).any()
