"""The texts about the two searches."""

from __future__ import annotations

from workbench.experiments.searching.found_batch import BatchProgress, Trial
from workbench.experiments.searching.found_rate import RateProgress
from workbench.experiments.searching.wording import (
    SIZES,
    batch_progress,
    beside,
    rate_progress,
    size_cells,
)

FITTING = Trial(
    1024, 2048, True, peak_mib=1234.4, alone=False, step_seconds=0.01, examples_per_second=3200.0,
    examples_per_second_low=3000.0,
)  # fmt: skip


def test_a_size_has_a_text_for_each_column_and_a_mark_for_unknown_values() -> None:
    texts = dict(zip(SIZES, size_cells(FITTING), strict=True))
    assert texts == {
        "Per replica": "1,024",
        "Global": "2,048",
        "Peak MiB": "~1,234",
        "Step ms": "10",
        "Examples/s": "3,200",
        "95 %": "3,000 to ?",
    }
    failing = size_cells(Trial(64, 128, fits=False, reason="it used 900 MiB"))
    assert failing == ["64", "128", "does not fit", "", "", ""]


def test_progress_names_the_current_size_or_rate() -> None:
    assert batch_progress(BatchProgress((), None, 1.0, None)) == "0 sizes tried"
    one = batch_progress(BatchProgress((FITTING,), 2048, 1.0, None))
    assert one == "1 size tried, 2,048 per replica now"
    assert rate_progress(RateProgress((), (), 150, 1.0, None)) == "0 of 150 steps"
    two = rate_progress(RateProgress((1e-7, 1e-6), (0.7, 0.7), 150, 1.0, None))
    assert two == "2 of 150 steps, learning rate 1.0e-06"


def test_runs_on_the_same_devices_are_named() -> None:
    assert beside(["one", "two"]).startswith("one and two trained on the same devices meanwhile.")
