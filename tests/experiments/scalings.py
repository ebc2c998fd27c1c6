"""Noise scales and what they mean for a run, for tests that show them."""

from __future__ import annotations

import os
from dataclasses import replace

from workbench.experiments.noise_scale import NO_DIRECTION, NO_NOISE, NoiseScale
from workbench.experiments.scaling import (
    RESULT,
    TIMES,
    Scaling,
    best_of,
    goodputs,
    larger,
)
from workbench.runs import Run
from workbench.runs.folder.files import json_text

KNOWN_NOISE = NoiseScale(156, 1_152.0, 900.0, 1_500.0, 1.0, 1_152.0, 256, 64)
BOUND_NOISE = replace(KNOWN_NOISE, examples=None, low=2_700.0, high=None, reason=NO_DIRECTION)
UNKNOWN_NOISE = replace(KNOWN_NOISE, examples=None, low=None, high=None, reason=NO_NOISE)


def scaling_of(noise: NoiseScale, batch: int = 128) -> Scaling:
    good = goodputs(noise, {"this": (batch, 1_000.0)})
    more = tuple(larger(noise, batch, times) for times in TIMES)
    return Scaling("this", batch, 2, True, noise, (noise,), more, good, best_of(good))


def measure_noise(run: Run, noise: NoiseScale, when: float = 1000.0) -> None:
    """Keep a measured noise scale in the folder of a run."""
    path = run.dir / RESULT
    path.write_text(json_text(scaling_of(noise).to_json()))
    os.utime(path, (when, when))
