"""The goodput of compared rows, from a noise scale that was measured in one of their runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.experiments.scalings import BOUND_NOISE, KNOWN_NOISE, UNKNOWN_NOISE, measure_noise
from tests.experiments.timed_runs import APART, ONE, TWO, group
from workbench.experiments import make_table
from workbench.experiments.comparing.wording import HEAD, cells
from workbench.experiments.scaling import RESULT


def test_one_measured_noise_scale_gives_the_goodput_of_all_rows_that_train_the_same(
    tmp_path: Path,
) -> None:
    large = replace(ONE, global_batch_size=1_024)
    other = replace(ONE, synthetic_examples=20_000)
    groups = [
        group(tmp_path, "one", ONE, 1000.0),
        group(tmp_path, "large", large, 1900.0),
        group(tmp_path, "apart", APART, 3000.0),
        group(tmp_path, "other data", other, 1000.0),
    ]
    assert [row.goodput for row in make_table(groups).rows] == [None] * 4
    measure_noise(groups[0].runs[0], KNOWN_NOISE)
    one, large_row, apart, other_row = make_table(groups).rows
    assert one.goodput == pytest.approx(1000 * 1152 / (1152 + 64), rel=1e-3)
    assert large_row.goodput == pytest.approx(1900 * 1152 / (1152 + 1024), rel=1e-3)
    assert large_row.goodput_low < large_row.goodput < large_row.goodput_high
    assert apart.goodput is None
    assert other_row.goodput is None
    assert f"goodput by the noise scale of {groups[0].runs[0].id} after 156 steps" in one.notes
    shown = dict(zip(HEAD, cells(large_row, is_baseline=False), strict=True))
    assert shown["Goodput (95 %)"] == "1,006 (889 to 1,129)"


def test_a_noise_scale_without_an_upper_end_gives_at_least_and_an_unknown_one_nothing(
    tmp_path: Path,
) -> None:
    groups = [group(tmp_path, "one", ONE, 1000.0)]
    measure_noise(groups[0].runs[0], BOUND_NOISE)
    (row,) = make_table(groups).rows
    assert (row.goodput, row.goodput_high) == (None, None)
    assert "at least 977" in cells(row, is_baseline=True)
    measure_noise(groups[0].runs[0], UNKNOWN_NOISE)
    (row,) = make_table(groups).rows
    assert (row.goodput, row.goodput_low) == (None, None)


def test_of_several_noise_scales_the_newest_is_used(tmp_path: Path) -> None:
    groups = [group(tmp_path, "one", ONE, 1000.0), group(tmp_path, "two", TWO, 1000.0)]
    measure_noise(groups[0].runs[0], KNOWN_NOISE, when=1000.0)
    measure_noise(
        groups[1].runs[0], replace(KNOWN_NOISE, examples=64.0, low=60.0, high=70.0), when=2000.0
    )
    assert [row.goodput for row in make_table(groups).rows] == pytest.approx([500.0] * 2, rel=1e-3)


def test_a_damaged_noise_scale_is_a_note_and_the_table_stays(tmp_path: Path) -> None:
    groups = [group(tmp_path, "one", ONE, 1000.0), group(tmp_path, "two", TWO, 1500.0)]
    (groups[0].runs[0].dir / RESULT).write_text("{")
    one, two = make_table(groups).rows
    assert "Measure again; that replaces the file" in one.notes[-1]
    assert (one.goodput, two.goodput) == (None, None)
    assert two.speed_up == pytest.approx(1.5)
