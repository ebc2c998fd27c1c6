"""The table of compared runs: their numbers, and the comparison with a baseline."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.experiments.timed_runs import APART, ONE, TWO, group, timed_run, with_second_worker
from workbench.charts import REPLICA_COLORS
from workbench.experiments import curves_figure, speed_figure
from workbench.experiments.comparing.rows import Group
from workbench.experiments.comparing.table import group_runs, make_table, with_distinct_labels
from workbench.experiments.comparing.wording import HEAD, cells
from workbench.runs import RunError


def test_speed_up_and_efficiency_compare_with_the_baseline(tmp_path: Path) -> None:
    groups = [
        group(tmp_path, "one", ONE, 1000.0, 1010.0, 990.0),
        group(tmp_path, "two", TWO, 1500.0, 1520.0, 1480.0),
    ]
    one, two = make_table(groups).rows
    assert (one.speed_up, one.speed_up_interval) == (1.0, None)
    assert two.speed_up == pytest.approx(1.5, rel=1e-3)
    assert two.scaling_efficiency == pytest.approx(0.75, rel=1e-3)
    assert two.differs
    assert two.max_loss_difference == pytest.approx(0.0, abs=1e-6)
    assert make_table(groups, baseline=1).rows[0].speed_up == pytest.approx(1 / 1.5, rel=1e-3)


def test_rounds_in_turn_cancel_changes_of_the_machine(tmp_path: Path) -> None:
    slow, fast = (1000.0, 500.0, 2000.0), (1100.0, 551.0, 2199.0)
    groups = [group(tmp_path, "slow", ONE, *slow), group(tmp_path, "fast", TWO, *fast)]
    assert make_table(groups).rows[1].differs
    alone = [replace(each, rounds=()) for each in groups]
    assert make_table(alone).rows[1].differs is False


def test_speed_up_and_efficiency_compare_the_same_rounds(tmp_path: Path) -> None:
    one = group(tmp_path, "one", ONE, 1000.0, 1010.0, 990.0, 100.0)
    two = group(tmp_path, "two", TWO, 1500.0, 1515.0, 1485.0)
    row = make_table([one, two]).rows[1]
    assert row.speed_up == pytest.approx(1.5)
    assert row.scaling_efficiency == pytest.approx(0.75)


def test_losses_have_three_digits(tmp_path: Path) -> None:
    row = make_table([group(tmp_path, "one", ONE, 1000.0)]).rows[0]
    shown = dict(zip(HEAD, cells(row, is_baseline=True), strict=True))
    assert (shown["Loss"], shown["Test loss"]) == ("1.00", "1.25")
    values = (0.12345, 0.0999996, 123.4, 12345.0, 0.00001234, 0.0, None)
    losses = [cells(replace(row, loss=value), is_baseline=True) for value in values]
    assert [each[HEAD.index("Loss")] for each in losses] == [
        *("0.123", "0.100", "123", "12,300", "1.23e-05", "0", ""),
    ]


def test_equal_scripts_make_one_group(tmp_path: Path) -> None:
    runs = [timed_run(tmp_path, config, 1000.0) for config in (ONE, TWO, ONE, replace(ONE, seed=1))]
    assert [len(each.runs) for each in group_runs(runs)] == [2, 1, 1]


def test_all_rows_with_runs_have_different_labels(tmp_path: Path) -> None:
    runs = [timed_run(tmp_path, config, 1000.0) for config in (ONE, replace(ONE, seed=1))]
    first, second = (each.label for each in group_runs(runs))
    assert second == f"{first} ({runs[1].id})"
    nothing = Group(first, reason="no TPU here")
    groups = with_distinct_labels([nothing, nothing, group_runs(runs[1:])[0]])
    assert [each.label for each in groups] == [first, first, f"{first} ({runs[1].id})"]


def test_the_table_becomes_a_frame_and_figures(tmp_path: Path) -> None:
    groups = [
        group(tmp_path, "one", ONE, 1000.0, 1010.0, 990.0),
        Group("tpu", reason="no TPU here"),
        group(tmp_path, "two", TWO, 1500.0),
    ]
    table = make_table(groups)
    frame = table.frame()
    assert frame.index.tolist() == ["one", "tpu", "two"]
    assert (
        frame.loc["one", "examples_per_second_low"]
        < 1000
        < frame.loc["one"]["examples_per_second_high"]
    )
    assert frame["speed_up"].isna().tolist() == [False, True, False]
    (bars,) = speed_figure(table).data
    assert list(bars.y) == ["one", "two"]
    assert list(bars.error_x.array)[1] == 0
    lines = curves_figure(groups, "rate", "examples").data
    assert [line.name for line in lines] == ["one", "two"]
    assert lines[0].x[-1] == 200 * 64


def test_asynchronous_workers_have_a_line_each_in_the_colour_of_their_run(
    tmp_path: Path,
) -> None:
    apart = with_second_worker(timed_run(tmp_path, APART, 3000.0), loss=2.0)
    groups = [group(tmp_path, "one", ONE, 1000.0), Group("apart", (apart,))]
    one, *workers = curves_figure(groups).data
    assert [line.name for line in (one, *workers)] == ["one", "apart, worker 0", "apart, worker 1"]
    assert [set(line.y) for line in (one, *workers)] == [{1.0}, {1.0}, {2.0}]
    assert {line.line.color for line in workers} == {REPLICA_COLORS[1]}
    assert {line.legendgroup for line in workers} == {"apart"}


def test_a_baseline_that_is_not_a_row_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"no row 3 to be the baseline\. Choose a row from 0 to 0"):
        make_table([group(tmp_path, "one", ONE, 1000.0)], baseline=3)
