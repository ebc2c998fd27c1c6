"""The two searches in words, for the terminal and for pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.catalog import COMPILED

if TYPE_CHECKING:
    from .found_batch import BatchProgress, FoundBatch, Trial
    from .found_rate import RateProgress, RateTest

SIZES = ("Per replica", "Global", "Peak MiB", "Step ms", "Examples/s", "95 %")
NO_FIT = "does not fit"


def size_cells(trial: Trial) -> list[str]:
    """Return a text for each column of `SIZES`; empty is unknown."""
    sizes = [f"{trial.per_replica_batch_size:,}", f"{trial.global_batch_size:,}"]
    rate, seconds, peak = trial.examples_per_second, trial.step_seconds, trial.peak_mib
    if not trial.fits or rate is None or seconds is None or peak is None:
        return [*sizes, NO_FIT, "", "", ""]
    low, high = trial.examples_per_second_low, trial.examples_per_second_high
    interval = "" if low is None else f"{low:,.0f} to {'?' if high is None else f'{high:,.0f}'}"
    at_most = "" if trial.alone else "~"
    return [*sizes, f"{at_most}{peak:,.0f}", f"{1000 * seconds:,.3g}", f"{rate:,.0f}", interval]


def batch_progress(progress: BatchProgress) -> str:
    """Return the progress of a search for a batch size, in words."""
    now = "" if progress.trying is None else f", {progress.trying:,} per replica now"
    return f"{sizes_tried(progress.trials)}{now}"


def sizes_tried(trials: Sequence[Trial]) -> str:
    """Return how many sizes were tried, in words."""
    return f"{len(trials)} size{'s' * (len(trials) != 1)} tried"


def rate_progress(progress: RateProgress) -> str:
    """Return the progress of a learning-rate range test, in words."""
    now = f", learning rate {progress.rates[-1]:.1e}" if progress.rates else ""
    return f"{len(progress.rates)} of {progress.steps} steps{now}"


def batch_sentences(found: FoundBatch) -> list[str]:
    """Return the reason of a search's end, and the notes on its table."""
    sentences = [found.reason]
    if found.memory_limit_mib is not None:
        sentences.append(f"The memory limit was {found.memory_limit_mib:,} MiB.")
    if any(trial.fits and not trial.alone for trial in found.trials):
        sentences.append("~ means at most: smaller sizes were tried earlier in the same process.")
    return sentences


def beside(runs: Sequence[str]) -> str:
    """Return how other runs on the same devices affect the measurements."""
    trained = f"{' and '.join(runs)} trained on the same devices meanwhile"
    return f"{trained}. On free devices, a larger size may fit, and every size is faster."


def rate_sentences(test: RateTest) -> list[str]:
    """Return how a test ended, the reading of its curve, and where to change a compiled rate."""
    sentences = []
    if test.ended == "diverged":
        sentences.append(f"The loss diverged at {test.rates[-1]:.2g}.")
    sentences.append(test.reason)
    if test.learning_rate is not None and test.optimizer == COMPILED:
        sentences.append(f"Compile your model's optimizer with learning_rate={test.suggestion:g}")
    return sentences
