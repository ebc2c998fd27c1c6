"""The comparison's tab: it shows the newest comparison, and problems next to their fields."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.experiments.comparing.test_goodput import measure_noise
from tests.experiments.test_scaling import KNOWN
from tests.experiments.timed_runs import APART, ONE, TWO, timed_run, with_second_worker
from tests.experiments.written import write_comparison
from tests.machines import LAPTOP
from tests.waiting import LIMIT_SECONDS, until
from workbench.charts.style import REPLICA_COLORS
from workbench.config import RunConfig
from workbench.experiments import Group, Table, make_table
from workbench.experiments.comparing.measures import measure_whole
from workbench.experiments.comparing.table import add_losses
from workbench.runs import Run
from workbench.widgets.comparison import losses
from workbench.widgets.comparison.arrangement import read_arrangement
from workbench.widgets.comparison.choices import ComparisonChoices
from workbench.widgets.comparison.colors import KEPT, read_colors
from workbench.widgets.comparison.form import ComparisonForm
from workbench.widgets.comparison.look import FIRST, look_at
from workbench.widgets.comparison.view import ComparisonView
from workbench.widgets.pictures.comparison import Line, bars, curves, table

RATES = {"OneDevice": (1000.0, 1010.0, 990.0), "Mirrored x 2": (1500.0, 1600.0, 1450.0)}


def view(root: Path, opened: list[Run] | None = None) -> ComparisonView:
    opened_runs = [] if opened is None else opened
    return ComparisonView(root, RunConfig, lambda: LAPTOP, opened_runs.append)


def rows_of(shown: str) -> list[list[str]]:
    rows = re.findall(r"<tr>(.*?)</tr>", shown)[1:]
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in rows]


def names(shown: ComparisonView) -> list[str]:
    """Return the names of the rows in the table."""
    return [row[0] for row in rows_of(shown._results._table.value)]


def test_the_newest_comparison_is_shown_with_its_recommendation(tmp_path: Path) -> None:
    write_comparison(tmp_path, {"OneDevice": (), "Mirrored x 2": ()}, "stopped")
    write_comparison(tmp_path, RATES, name="compare-20260102-000000-abcd")
    opened: list[Run] = []
    shown = view(tmp_path, opened)
    one, two, tpu = rows_of(until(lambda: shown._results._table.value))
    assert one[:3] == ["OneDevice", "1,000 (975 to 1,025)", "baseline"]
    assert two[2].startswith("1.52 (1.3")
    assert "no TPU here" in tpu[-1]
    until(lambda: "6 of 6 runs done, finished" in shown._progress.value)
    assert "Use Mirrored x 2: it is the fastest" in shown._results._advice.value
    until(lambda: "<polyline" in shown._results._curves.value)
    assert shown._resume.layout.display == shown._stop.layout.display == "none"
    shown._results._open.click()
    assert opened[0].plan.strategy == "mirrored"


def test_another_baseline_and_order_are_chosen(tmp_path: Path) -> None:
    write_comparison(tmp_path, RATES)
    shown = view(tmp_path)
    until(lambda: shown._results._table.value)
    shown._results.choices.baseline.value = "Mirrored x 2"
    until(lambda: rows_of(shown._results._table.value)[1][2] == "baseline")
    shown._results.choices.sort.value = "speed"
    until(lambda: rows_of(shown._results._table.value)[0][0] == "Mirrored x 2")


@pytest.mark.parametrize("key", ["loss", "test loss"])
def test_rows_are_sorted_by_loss(key: str, tmp_path: Path) -> None:
    runs = (timed_run(tmp_path, ONE, 1000.0), timed_run(tmp_path, TWO, 1000.0))
    found = make_table([Group("none"), *(Group(run.id, (run,)) for run in runs)])
    losses = ({"loss": 2.0, "test_loss": 1.0}, {"loss": 1.0, "test_loss": 2.0})
    none, *rows = found.rows
    rows = [replace(row, **loss) for row, loss in zip(rows, losses, strict=True)]
    choices = ComparisonChoices(lambda: None)
    choices.sort.value = key
    expected = {"loss": [2, 1, 0], "test loss": [1, 2, 0]}
    assert choices.arrange(replace(found, rows=(none, *rows))) == expected[key]


def test_a_second_click_turns_the_order_and_unknown_values_stay_last(tmp_path: Path) -> None:
    comparison = write_comparison(tmp_path, RATES)
    shown = view(tmp_path)
    until(lambda: len(names(shown)) == 3)
    choices = shown._results.choices
    assert choices.turn.description == "first on top"
    choices.turn.click()
    until(lambda: names(shown) == ["TPU", "Mirrored x 2", "OneDevice"])
    choices.turn.click()
    choices.sort.value = "speed"
    until(lambda: names(shown) == ["Mirrored x 2", "OneDevice", "TPU"])
    assert choices.turn.description == "best on top"
    choices.turn.click()
    until(lambda: names(shown) == ["OneDevice", "Mirrored x 2", "TPU"])
    assert choices.turn.description == "worst on top"
    until(lambda: read_arrangement(comparison.folder).turned)
    again = view(tmp_path)
    until(lambda: again._results.choices.turn.description == "worst on top")


def test_rows_are_filtered_in_table_bars_and_curves_and_the_baseline_stays(tmp_path: Path) -> None:
    write_comparison(tmp_path, RATES)
    shown = view(tmp_path)
    until(lambda: "<polyline" in shown._results._curves.value)
    shown._results.choices.only.value = " mirrored "
    until(
        lambda: (
            [row[0] for row in rows_of(shown._results._table.value)]
            == ["OneDevice", "Mirrored x 2"]
        )
    )
    assert "1 of 3 shown, and the baseline" in shown._results.choices._rows_shown.value
    shown._results.choices.baseline.value = "Mirrored x 2"
    until(lambda: names(shown) == ["Mirrored x 2"])
    until(lambda: shown._results._curves.value.count("<polyline") == 1)
    assert "OneDevice" not in shown._results._bars.value
    assert "1 of 3 shown<" in shown._results.choices._rows_shown.value
    assert [row["label"] for row in shown._results._colors.rows] == ["Mirrored x 2"]
    shown._results.choices.only.value = ""
    until(lambda: len(rows_of(shown._results._table.value)) == 3)
    assert shown._results.choices._rows_shown.value == ""


def test_colours_are_chosen_and_found_again(tmp_path: Path) -> None:
    comparison = write_comparison(tmp_path, RATES)
    shown = view(tmp_path)
    until(lambda: "<polyline" in shown._results._curves.value)
    assert [row["usual"] for row in shown._results._colors.rows] == list(REPLICA_COLORS[:2])
    shown._results._colors.chosen = {"Mirrored x 2": "#ffffff"}
    until(lambda: 'stroke="#ffffff"' in shown._results._curves.value)
    assert (
        'stroke="#ffffff" stroke-width="1.5" stroke-dasharray="8 4"' in shown._results._curves.value
    )
    assert 'fill="#ffffff"' in shown._results._bars.value
    until(lambda: read_colors(comparison.folder))
    again = view(tmp_path)
    until(lambda: 'stroke="#ffffff"' in again._results._curves.value)
    again._results._colors.chosen = {}
    until(lambda: "#ffffff" not in again._results._curves.value)
    until(lambda: not read_colors(comparison.folder))


def test_earlier_runs_join_a_comparison_and_leave_it(tmp_path: Path) -> None:
    write_comparison(tmp_path, RATES)
    other = replace(ONE, seed=7)
    runs = [timed_run(tmp_path, other, 1200.0), timed_run(tmp_path, other, 1300.0)]
    shown = view(tmp_path)
    until(lambda: "<polyline" in shown._results._curves.value)
    advice = shown._results._advice.value
    earlier = shown._earlier
    earlier._asked.click()
    until(lambda: earlier._found.options)
    assert {run.id for _, run in earlier._found.options} == {run.id for run in runs}
    earlier._found.value = [run for _, run in earlier._found.options]
    earlier._add.click()
    assert earlier._found.options == ()
    *_, added = until(lambda: (rows := rows_of(shown._results._table.value))[3:] and rows)
    assert added[0] == "OneDevice on 1 replica, custom"
    assert "2 earlier runs" in added
    assert "seed differs among these runs" in shown._results._table.value
    until(lambda: shown._results._curves.value.count("<polyline") == 3)
    assert shown._results._advice.value == advice
    shown._results.choices.baseline.value = added[0]
    until(lambda: rows_of(shown._results._table.value)[3][2] == "baseline")
    earlier._added.value = [run for _, run in earlier._added.options]
    earlier._remove.click()
    until(lambda: len(rows_of(shown._results._table.value)) == 3)
    assert shown._results.choices.baseline.value == FIRST


def test_earlier_runs_are_compared_without_a_comparison(tmp_path: Path) -> None:
    runs = [timed_run(tmp_path, ONE, 1000.0), timed_run(tmp_path, TWO, 1500.0)]
    shown = view(tmp_path)
    assert shown._results.box.layout.display == "none"
    shown._earlier._choose(runs)
    until(lambda: len(rows_of(shown._results._table.value)) == 2)
    until(lambda: "2 earlier runs compared" in shown._progress.value)
    until(lambda: "Use Mirrored" in shown._results._advice.value)
    assert shown._start.disabled is False
    until(lambda: shown._results.box.layout.display is None)
    runs[0].delete()
    shown._results.choices.sort.value = "speed"
    until(lambda: len(rows_of(shown._results._table.value)) == 1)
    shown._earlier._choose([])
    until(lambda: shown._results.box.layout.display == "none")
    assert shown._progress.value == ""


def test_workers_that_do_not_step_together_have_a_line_each_in_the_colour_of_their_row(
    tmp_path: Path,
) -> None:
    run = with_second_worker(timed_run(tmp_path, APART, 3000.0), loss=2.0)
    shown = view(tmp_path)
    shown._earlier._choose([run])
    until(lambda: shown._results.box.layout.display is None)
    (row,) = (group.label for group in shown._seen.groups)
    strokes = re.findall(r'<polyline [^>]*stroke="(#\w+)"', shown._results._curves.value)
    assert strokes == [REPLICA_COLORS[0]] * 2
    assert f"{row}, worker 0 ends at 1; {row}, worker 1 ends at 2" in shown._results._curves.value
    assert "each has its own line and its own steps" in shown._results._curves.value
    shown._results._colors.chosen = {row: "#123456"}
    until(
        lambda: (
            len(re.findall(r'<polyline [^>]*stroke="#123456"', shown._results._curves.value)) == 2
        )
    )


def test_a_look_uses_unchanged_results_again(tmp_path: Path) -> None:
    comparison = write_comparison(tmp_path, RATES)
    run = timed_run(tmp_path, ONE, 1000.0)
    first = look_at(comparison, [run], FIRST, None)
    assert [group.label for group in first.groups] == [
        *("OneDevice", "Mirrored x 2", "TPU", "OneDevice on 1 replica, custom"),
    ]
    again = look_at(comparison, [run], FIRST, first)
    assert (again.table, again.groups) == (first.table, first.groups)
    assert again.table is first.table
    os.utime(run.dir / "events.jsonl", ns=(1, 1))
    assert look_at(comparison, [run], FIRST, first).table is not first.table
    assert look_at(comparison, [run], "TPU", None).table.baseline == 0


def test_curves_are_shown_while_losses_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = threading.Event()

    def add_losses_later(found: Table, groups: Sequence[Group]) -> Table:
        assert read.wait(LIMIT_SECONDS)
        return add_losses(found, groups)

    monkeypatch.setattr(losses, "add_losses", add_losses_later)
    write_comparison(tmp_path, RATES)
    shown = view(tmp_path)
    until(lambda: shown._results._curves.value.count("<polyline") == 2)
    one, two, _ = rows_of(shown._results._table.value)
    assert "calculating" in two
    assert "calculating" not in one
    shown._results.choices.baseline.value = "Mirrored x 2"
    until(lambda: rows_of(shown._results._table.value)[1][2] == "baseline")
    read.set()
    until(lambda: "calculating" not in shown._results._table.value)
    one, two, _ = rows_of(shown._results._table.value)
    assert (one[-3], two[-3]) == ("0", "")


def test_losses_that_cannot_be_read_are_a_message(tmp_path: Path) -> None:
    comparison = write_comparison(tmp_path, RATES)
    runs = [comparison.run(trial) for trial in comparison.trials]
    for run in runs:
        measure_whole(run)
    (steps,) = (runs[len(RATES["OneDevice"])].dir / "worker-0").glob("*.steps")
    steps.unlink()
    steps.mkdir()
    shown = view(tmp_path)
    until(lambda: "Is a directory" in shown._progress.value)
    assert "calculating" not in shown._results._table.value
    assert shown._results._curves.value.count("<polyline") == 2


def test_a_noise_scale_that_was_measured_meanwhile_gives_goodput_when_the_tab_is_shown_again(
    tmp_path: Path,
) -> None:
    comparison = write_comparison(tmp_path, RATES)
    shown = view(tmp_path)
    until(lambda: shown._poller is not None and shown._poller.over)
    assert "Goodput" not in shown._results._table.value
    measure_noise(comparison.run(comparison.trials[0]), KNOWN)
    shown.look_again()
    until(lambda: "Goodput (95 %)" in shown._results._table.value)
    assert rows_of(shown._results._table.value)[1][2].startswith("1,43")


def test_a_stopped_comparison_can_be_resumed(tmp_path: Path) -> None:
    write_comparison(tmp_path, {**RATES, "Mirrored x 2": ()}, "stopped")
    shown = view(tmp_path)
    until(lambda: "3 of 6 runs done, stopped" in shown._progress.value)
    until(lambda: shown._resume.layout.display is None)
    assert rows_of(shown._results._table.value)[1][-2] == "waiting"
    shown._resume.click()
    until(lambda: "A click resumes only a comparison" in shown._progress.value)
    assert "compare.json of " in shown._progress.value
    assert not next(tmp_path.glob("compare-*/queue.log"), None)


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
    shown = view(tmp_path)
    asked = getattr(shown._form, field)
    asked.control.value = typed
    shown._start.click()
    assert words in asked.problems
    assert not list(tmp_path.iterdir())


def test_unreadable_colours_are_reported_and_only_valid_colours_are_used(tmp_path: Path) -> None:
    comparison = write_comparison(tmp_path, RATES)
    kept = comparison.folder / KEPT
    kept.write_text("{")
    shown = view(tmp_path)
    until(lambda: "<polyline" in shown._results._curves.value)
    assert "Remove that file, then choose the colours again." in shown._results._colors.note
    kept.write_text('{"colors": {"OneDevice": "#123456", "TPU": "\\"/><script>", "x": 7}}')
    assert read_colors(comparison.folder) == {"OneDevice": "#123456"}
    shown._results._colors.chosen = {"OneDevice": 'red"/><script>'}
    assert shown._results._colors.chosen == {}


def test_colours_that_cannot_be_saved_are_used_for_now(tmp_path: Path) -> None:
    comparison = write_comparison(tmp_path, RATES)
    shown = view(tmp_path)
    until(lambda: "<polyline" in shown._results._curves.value)
    (comparison.folder / KEPT).mkdir()
    shown._results._colors.chosen = {"OneDevice": "#123456"}
    until(
        lambda: "The colours are lost when this notebook is closed." in shown._results._colors.note
    )
    until(lambda: 'stroke="#123456"' in shown._results._curves.value)


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


def test_the_reason_is_shown_if_a_comparison_cannot_be_started(tmp_path: Path) -> None:
    shown = view(tmp_path)
    shown._form.strategies.write(["tpu"])
    shown._start.click()
    until(lambda: "no TPU here" in shown._progress.value)
    until(lambda: not shown._start.disabled)
    shown._form.strategies.write([])
    shown._start.click()
    until(lambda: "strategy must be varied over one value or more" in shown._progress.value)


def test_pictures_without_results_are_empty_and_text_is_escaped() -> None:
    empty = make_table([Group("<b>tpu</b>", reason="<script>")])
    assert bars(empty) == ""
    assert curves([], "Loss", "steps") == ""
    assert "<script>" not in table(empty, [""])
    assert "<b>tpu" not in table(empty, [""])


def test_curves_are_described_as_text_too(tmp_path: Path) -> None:
    line = Line("one & two", 0, np.arange(1000.0), np.append(np.nan, np.ones(999)))
    drawn = curves([line], "Loss", "steps")
    assert 'aria-label="Loss along steps: one &amp; two ends at 1"' in drawn
    assert len(re.findall(r"\d,\d", drawn)) <= 500


@pytest.mark.parametrize("points", [1, 2, 399, 400, 401, 799, 998, 2000])
def test_a_curve_is_drawn_from_its_first_to_its_last_point(points: int) -> None:
    steps = np.arange(1.0, points + 1)
    drawn = curves([Line("one", 0, steps, steps)], "Loss", "steps")
    assert f"one ends at {points}" in drawn
    (line,) = re.findall(r'<polyline points="(.*?)"', drawn)
    places = line.split()
    assert len(set(places)) == len(places) == min(points, 400)
    assert float(places[-1].split(",")[0]) == 708


def test_long_names_next_to_bars_keep_both_ends(tmp_path: Path) -> None:
    name = f"{'a' * 40}{'b' * 40}"
    drawn = bars(make_table([Group(name, (timed_run(tmp_path, ONE, 1000.0),))]))
    assert f">{'a' * 17}…{'b' * 16}</text>" in drawn
    assert f'aria-label="{name}: 1,000 examples per second"' in drawn
