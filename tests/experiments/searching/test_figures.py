"""Figures of the two searches."""

from __future__ import annotations

from workbench.experiments.searching import figures as search_figures
from workbench.experiments.searching.found_batch import Trial

TRIALS = (
    Trial(16, 32, True, peak_mib=600.0, step_seconds=0.01, examples_per_second=3200.0,
          examples_per_second_low=3000.0, examples_per_second_high=3500.0),
    Trial(32, 64, True, peak_mib=700.0, step_seconds=0.01, examples_per_second=6400.0),
    Trial(64, 128, False, "it held 900 MiB"),
)  # fmt: skip


def test_throughput_memory_and_failing_sizes_are_drawn() -> None:
    figure = search_figures.batch_figure(TRIALS, largest=32, best=16, memory_limit_mib=800)
    speed, peak, failing = figure.data
    assert (list(speed.x), list(speed.y)) == ([16, 32], [3200.0, 6400.0])
    assert list(speed.error_y.array) == [300.0, None]
    assert list(speed.error_y.arrayminus) == [200.0, None]
    assert list(peak.y) == [600.0, 700.0]
    assert list(failing.x) == [64]
    assert {note.text for note in figure.layout.annotations} == {"largest: 32", "best: 16"}
    assert len(figure.layout.shapes) == 3


def test_a_search_without_trials_is_a_figure() -> None:
    figure = search_figures.batch_figure([])
    assert all(len(trace.x) == 0 for trace in figure.data)
    assert figure.layout.paper_bgcolor == figure.layout.plot_bgcolor == "rgba(0,0,0,0)"


def test_the_loss_is_drawn_over_the_rate() -> None:
    rates = [1e-3, 1e-2, 1e-1]
    figure = search_figures.rate_figure(rates, [1.0, 0.5, None], [1.0, 0.6], suggestion=1e-2)
    raw, line = figure.data
    assert list(raw.y) == [1.0, 0.5, None]
    assert list(line.x) == [1e-3, 1e-2]
    assert figure.layout.xaxis.type == "log"
    (note,), (line,) = figure.layout.annotations, figure.layout.shapes
    assert (note.text, note.x) == ("suggested: 0.01", -2)
    assert (line.x0, line.x1) == (1e-2, 1e-2)


def test_a_test_without_steps_is_a_figure() -> None:
    assert len(search_figures.rate_figure([], []).data) == 2
