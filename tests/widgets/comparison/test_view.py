"""The comparison's tab: it shows the newest comparison, and problems next to their fields."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.experiments.scalings import KNOWN_NOISE, measure_noise
from tests.experiments.timed_runs import APART, ONE, TWO, timed_run, with_second_worker
from tests.experiments.written import write_comparison
from tests.waiting import LIMIT_SECONDS, until
from tests.widgets.comparison.views import RATES, comparison_view, row_names
from tests.widgets.tables import rows_of
from workbench.charts.style import REPLICA_COLORS
from workbench.experiments import Group, Table, make_table
from workbench.experiments.comparing.measures import measure_whole
from workbench.experiments.comparing.table import add_losses
from workbench.runs import Run
from workbench.widgets.comparison import losses
from workbench.widgets.comparison.arrangement import read_arrangement
from workbench.widgets.comparison.choices import ComparisonChoices
from workbench.widgets.comparison.snapshot import FIRST, snapshot_of
from workbench.widgets.comparison.sorting import SORTS
from workbench.widgets.pictures.comparison import COLUMNS, NUMERIC


def test_the_newest_comparison_is_shown_with_its_recommendation(tmp_path: Path) -> None:
    write_comparison(tmp_path, {"OneDevice": (), "Mirrored x 2": ()}, "stopped")
    write_comparison(tmp_path, RATES, name="compare-20260102-000000-abcd")
    opened: list[Run] = []
    shown = comparison_view(tmp_path, opened)
    one, two, tpu = rows_of(until(lambda: shown._results._table.value))
    assert one[:4] == ["OneDevice", "64", "1,000 (975 to 1,025)", "baseline"]
    assert two[3].startswith("1.52 (1.3")
    assert "no TPU here" in tpu[-1]
    until(lambda: "6 of 6 runs done, finished" in shown._progress.value)
    assert "Use Mirrored x 2: it is the fastest" in shown._results._advice.value
    until(lambda: "<polyline" in shown._results._curves.value)
    assert shown._resume.layout.display == shown._stop.layout.display == "none"
    shown._results._open.click()
    assert opened[0].plan.strategy == "mirrored"


def test_another_baseline_and_order_are_chosen(tmp_path: Path) -> None:
    write_comparison(tmp_path, RATES)
    shown = comparison_view(tmp_path)
    until(lambda: shown._results._table.value)
    shown._results.choices.baseline.value = "Mirrored x 2"
    until(lambda: rows_of(shown._results._table.value)[1][3] == "baseline")
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


def heads_of(shown: str) -> dict[str, str]:
    """Return the direction of each head that a click can sort by, by the head's text."""
    found = re.findall(r'<th[^>]*?(?: aria-sort="(\w+)")?><button [^>]*>([^<]*)', shown)
    return {text: direction for direction, text in found}


def test_clicks_on_a_head_sort_turn_and_show_the_rows_as_listed(tmp_path: Path) -> None:
    comparison = write_comparison(tmp_path, RATES)
    shown = comparison_view(tmp_path)
    until(lambda: len(row_names(shown)) == 3)
    choices, table = shown._results.choices, shown._results._table
    assert (choices.turn.description, choices.turn.disabled) == ("first on top", True)
    choices.click("speed")
    until(lambda: row_names(shown) == ["Mirrored x 2", "OneDevice", "TPU"])
    assert heads_of(table.value)["Examples/s (95 %)"] == "descending"
    assert [each for each in heads_of(table.value).values() if each] == ["descending"]
    assert (choices.sort.value, choices.turn.description) == ("speed", "best on top")
    choices.click("speed")
    until(lambda: row_names(shown) == ["OneDevice", "Mirrored x 2", "TPU"])
    assert heads_of(table.value)["Examples/s (95 %)"] == "ascending"
    assert choices.turn.description == "worst on top"
    until(lambda: read_arrangement(comparison.folder).turned)
    again = comparison_view(tmp_path)
    until(lambda: again._results.choices.turn.description == "worst on top")
    choices.click("speed")
    until(lambda: not read_arrangement(comparison.folder).sort)
    assert (choices.sort.value, choices.turn.disabled) == ("", True)


def test_the_controls_and_the_heads_show_one_order(tmp_path: Path) -> None:
    write_comparison(tmp_path, RATES)
    shown = comparison_view(tmp_path)
    until(lambda: len(row_names(shown)) == 3)
    choices, table = shown._results.choices, shown._results._table
    choices.sort.value = "name"
    until(lambda: row_names(shown) == ["Mirrored x 2", "OneDevice", "TPU"])
    assert heads_of(table.value)["Name"] == "ascending"
    assert choices.turn.description == "first on top"
    choices.turn.click()
    until(lambda: row_names(shown) == ["TPU", "OneDevice", "Mirrored x 2"])
    assert heads_of(table.value)["Name"] == "descending"
    choices.sort.value = "median step"
    assert not choices.order.turned
    until(lambda: heads_of(table.value)["Median step"] == "ascending")


def test_each_column_with_numbers_can_be_sorted() -> None:
    numeric = {COLUMNS[at] for at in NUMERIC}
    assert {each.column for each in SORTS.values()} == {COLUMNS[0], *numeric}


def test_rows_are_filtered_in_table_bars_and_curves_and_the_baseline_stays(tmp_path: Path) -> None:
    write_comparison(tmp_path, RATES)
    shown = comparison_view(tmp_path)
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
    until(lambda: row_names(shown) == ["Mirrored x 2"])
    until(lambda: shown._results._curves.value.count("<polyline") == 1)
    assert "OneDevice" not in shown._results._bars.value
    assert "1 of 3 shown<" in shown._results.choices._rows_shown.value
    assert [row["label"] for row in shown._results._colors.rows] == ["Mirrored x 2"]
    shown._results.choices.only.value = ""
    until(lambda: len(rows_of(shown._results._table.value)) == 3)
    assert shown._results.choices._rows_shown.value == ""


def test_earlier_runs_join_a_comparison_and_leave_it(tmp_path: Path) -> None:
    write_comparison(tmp_path, RATES)
    other = replace(ONE, seed=7)
    runs = [timed_run(tmp_path, other, 1200.0), timed_run(tmp_path, other, 1300.0)]
    shown = comparison_view(tmp_path)
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
    until(lambda: rows_of(shown._results._table.value)[3][3] == "baseline")
    earlier._added.value = [run for _, run in earlier._added.options]
    earlier._remove.click()
    until(lambda: len(rows_of(shown._results._table.value)) == 3)
    assert shown._results.choices.baseline.value == FIRST


def test_earlier_runs_are_compared_without_a_comparison(tmp_path: Path) -> None:
    runs = [timed_run(tmp_path, ONE, 1000.0), timed_run(tmp_path, TWO, 1500.0)]
    shown = comparison_view(tmp_path)
    assert shown._results.box.layout.display == "none"
    shown._earlier._choose(runs)
    until(lambda: len(rows_of(shown._results._table.value)) == 2)
    until(lambda: "2 earlier runs compared" in shown._progress.value)
    until(lambda: "Undecided: Mirrored" in shown._results._advice.value)
    assert shown._start.disabled is False
    until(lambda: shown._results.box.layout.display is None)
    runs[0].delete()
    shown._results.choices.sort.value = "speed"
    until(lambda: len(rows_of(shown._results._table.value)) == 1)
    shown._earlier._choose([])
    until(lambda: shown._results.box.layout.display == "none")
    assert shown._progress.value == ""


def test_asynchronous_workers_have_a_line_each_in_the_colour_of_their_row(
    tmp_path: Path,
) -> None:
    run = with_second_worker(timed_run(tmp_path, APART, 3000.0), loss=2.0)
    shown = comparison_view(tmp_path)
    shown._earlier._choose([run])
    until(lambda: shown._results.box.layout.display is None)
    (row,) = (group.label for group in shown._snapshot.groups)
    strokes = re.findall(r'<polyline [^>]*stroke="(#\w+)"', shown._results._curves.value)
    assert strokes == [REPLICA_COLORS[0]] * 2
    assert f"{row}, worker 0 ends at 1; {row}, worker 1 ends at 2" in shown._results._curves.value
    assert "each have their own line and their own steps" in shown._results._curves.value
    shown._results._colors.chosen = {row: "#123456"}
    until(
        lambda: (
            len(re.findall(r'<polyline [^>]*stroke="#123456"', shown._results._curves.value)) == 2
        )
    )


def test_a_look_uses_unchanged_results_again(tmp_path: Path) -> None:
    comparison = write_comparison(tmp_path, RATES)
    run = timed_run(tmp_path, ONE, 1000.0)
    first = snapshot_of(comparison, [run], FIRST, None)
    assert [group.label for group in first.groups] == [
        *("OneDevice", "Mirrored x 2", "TPU", "OneDevice on 1 replica, custom"),
    ]
    again = snapshot_of(comparison, [run], FIRST, first)
    assert (again.table, again.groups) == (first.table, first.groups)
    assert again.table is first.table
    os.utime(run.dir / "events.jsonl", ns=(1, 1))
    assert snapshot_of(comparison, [run], FIRST, first).table is not first.table
    assert snapshot_of(comparison, [run], "TPU", None).table.baseline == 0


def test_curves_are_shown_while_losses_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = threading.Event()

    def add_losses_later(found: Table, groups: Sequence[Group]) -> Table:
        assert read.wait(LIMIT_SECONDS)
        return add_losses(found, groups)

    monkeypatch.setattr(losses, "add_losses", add_losses_later)
    write_comparison(tmp_path, RATES)
    shown = comparison_view(tmp_path)
    until(lambda: shown._results._curves.value.count("<polyline") == 2)
    one, two, _ = rows_of(shown._results._table.value)
    assert "calculating" in two
    assert "calculating" not in one
    shown._results.choices.baseline.value = "Mirrored x 2"
    until(lambda: rows_of(shown._results._table.value)[1][3] == "baseline")
    read.set()
    until(lambda: "calculating" not in shown._results._table.value)
    one, two, _ = rows_of(shown._results._table.value)
    assert (one[-3], two[-3]) == ("0", "")


def test_losses_that_cannot_be_read_are_a_message(tmp_path: Path) -> None:
    comparison = write_comparison(tmp_path, RATES)
    runs = [comparison.run(trial) for trial in comparison.trials]
    for run in runs:
        measure_whole(run)
    steps = runs[len(RATES["OneDevice"])].dir / "worker-0" / "steps.f4"
    steps.unlink()
    steps.mkdir()
    shown = comparison_view(tmp_path)
    until(lambda: "Is a directory" in shown._progress.value)
    assert "calculating" not in shown._results._table.value
    assert shown._results._curves.value.count("<polyline") == 2


def test_a_noise_scale_that_was_measured_meanwhile_gives_goodput_when_the_tab_is_shown_again(
    tmp_path: Path,
) -> None:
    comparison = write_comparison(tmp_path, RATES)
    shown = comparison_view(tmp_path)
    until(lambda: shown._poller is not None and shown._poller.over)
    assert "Goodput" not in shown._results._table.value
    measure_noise(comparison.run(comparison.trials[0]), KNOWN_NOISE)
    shown.look_again()
    until(lambda: "Goodput (95 %)" in shown._results._table.value)
    assert rows_of(shown._results._table.value)[1][3].startswith("1,43")


def test_a_stopped_comparison_can_be_resumed(tmp_path: Path) -> None:
    write_comparison(tmp_path, {**RATES, "Mirrored x 2": ()}, "stopped")
    shown = comparison_view(tmp_path)
    until(lambda: "3 of 6 runs done, stopped" in shown._progress.value)
    until(lambda: shown._resume.layout.display is None)
    assert rows_of(shown._results._table.value)[1][-2] == "waiting"
    shown._resume.click()
    until(lambda: "resuming would execute its code" in shown._progress.value)
    assert "compare.json of " in shown._progress.value
    assert not next(tmp_path.glob("compare-*/queue.log"), None)


def test_the_reason_is_shown_if_a_comparison_cannot_be_started(tmp_path: Path) -> None:
    shown = comparison_view(tmp_path)
    shown._form.strategies.write(["tpu"])
    shown._start.click()
    until(lambda: "no TPU here" in shown._progress.value)
    until(lambda: not shown._start.disabled)
    shown._form.strategies.write([])
    shown._start.click()
    until(lambda: "strategy must be given at least one value" in shown._progress.value)
