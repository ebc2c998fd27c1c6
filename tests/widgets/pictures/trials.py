"""Trials of batch sizes, for tests that draw or show them."""

from __future__ import annotations

from workbench.experiments.searching.results import Trial

TRIALS = (
    Trial(16, 32, True, peak_mib=600.0, step_seconds=0.01, examples_per_second=3200.0,
          examples_per_second_low=3000.0, examples_per_second_high=3500.0),
    Trial(32, 64, True, peak_mib=700.0, step_seconds=0.01, examples_per_second=6400.0,
          examples_per_second_low=6000.0),
    Trial(64, 128, False, "it used 900 MiB"),
)  # fmt: skip
