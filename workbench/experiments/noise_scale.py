"""The gradient noise scale: how many examples it takes for their noise to be as large as their sum.

Sources: McCandlish, Kaplan, Amodei and the OpenAI Dota Team, "An Empirical Model of Large-Batch
Training", 2018 (arXiv 1812.06162), and Qiao et al., "Pollux", OSDI 2021. What is measured is the
simple noise scale, of the plain gradient: what an optimizer such as Adam makes of it is not in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .student import student_t

if TYPE_CHECKING:
    import numpy.typing as npt

    from workbench.runs.programs.noise import Gradients

    Doubles = npt.NDArray[np.float64]

LEAST_NOISE = 1e-12
"""Of the gradients' squared norms: below it is what rounding leaves."""
NO_DIRECTION = (
    "the gradients of different batches have no direction in common that can be told from noise"
)
NO_NOISE = "all batches give the same gradient, so that there is no noise to measure"


@dataclass(frozen=True)
class NoiseScale:
    """The noise scale at some weights, in examples; None is unknown."""

    step: int
    """Steps trained when the weights were these; 0 are the first weights."""
    examples: float | None
    """Where noise and direction of a batch's gradient are of one size: the critical batch."""
    low: float | None
    high: float | None
    """The ends of the 95 % interval. Low without high: it is at least that."""
    squared_gradient: float
    """Of the gradient that all examples have in common: an unbiased estimate, which may be < 0."""
    noise: float
    """The sum of the variances, over all weights, of a single example's gradient."""
    batches: int
    """Steps times replicas that it was measured of."""
    batch_size: int
    """Examples in each of them."""
    reason: str = ""
    """Why the scale, or its upper end, is unknown; empty where both are known."""


def estimate(found: Gradients) -> NoiseScale:
    """Return the noise scale with its interval, from gradients at weights that stand still."""
    groups = len(found.products)
    small = found.squared_norms.reshape(groups, -1).mean(axis=1)
    batches, size = found.squared_norms.size, found.per_replica_batch_size
    signal, noise = separate(small.mean(), found.products.mean(), size, batches * size)
    value, low, high, reason = None, None, None, NO_NOISE
    if noise > LEAST_NOISE * small.mean():
        ratio, margin = signal_per_noise(small, found.products, size, batches)
        low, high = (_inverse(float(end)) for end in (ratio + margin, ratio - margin))
        value, reason = (None, NO_DIRECTION) if high is None else (1 / float(ratio), "")
    return NoiseScale(
        found.step, value, low, high, float(signal), float(noise), batches, size, reason
    )


def separate(
    small: float | Doubles, big: float | Doubles, small_batch: int, big_batch: int
) -> tuple[Doubles, Doubles]:
    """Return the squared norm of the common gradient, and the variance of an example's.

    Both are free of bias, from the mean squared norms of gradients of batches of two sizes:
    McCandlish et al., appendix A.1. At the same weights the larger batch may be that of many steps.
    """
    signal = (big_batch * big - small_batch * small) / (big_batch - small_batch)
    noise = (small - big) / (1 / small_batch - 1 / big_batch)
    return np.asarray(signal), np.asarray(noise)


def signal_per_noise(
    small: Doubles, products: Doubles, size: int, batches: int
) -> tuple[Doubles, Doubles]:
    """Return the inverse of the noise scale, and the half width of its 95 % interval.

    The inverse, because its interval has an end also where the noise scale's has none. A ratio of
    means over all steps; its variance is that of the jackknife, which leaves out a group of steps
    at a time (Efron and Stein, "The Jackknife Estimate of Variance", 1981: it does not err below).

    Args:
        small: [..., groups], mean squared norm of a replica's gradient.
        products: [..., groups, groups], inner products of the groups' mean gradients.
        size: examples in a replica's batch.
        batches: replicas' batches in all groups.
    """
    groups = small.shape[-1]
    sums, own = products.sum(axis=-1), np.diagonal(products, axis1=-2, axis2=-1)
    whole, total = sums.sum(axis=-1), small.sum(axis=-1)
    ratio = _ratio(total / groups, whole / groups**2, size, batches)
    without = (
        (total[..., None] - small) / (groups - 1),
        (whole[..., None] - 2 * sums + own) / (groups - 1) ** 2,
    )
    ratios = _ratio(*without, size, batches // groups * (groups - 1))
    variance = (groups - 1) * ratios.var(axis=-1)
    return ratio, student_t(groups - 1) * np.sqrt(variance)


def _ratio(small: Doubles, big: Doubles, size: int, batches: int) -> Doubles:
    signal, noise = separate(small, big, size, size * batches)
    return signal / noise


def _inverse(ratio: float) -> float | None:
    """Return an end of the noise scale's interval; None where it has none."""
    return 1 / ratio if ratio > 0 else None


def statistical_efficiency(noise_scale: float, batch: float, baseline: float = 0.0) -> float:
    """Return what share of an example's worth in steps of `baseline` it has in steps of `batch`.

    Qiao et al., section 3.1: (scale + baseline) / (scale + batch). Against a baseline of 0, steps
    as small as can be, it is how many examples were needed at least for one that is taken now:
    McCandlish et al., section 2.3, E_min / E.
    """
    return (noise_scale + baseline) / (noise_scale + batch)


def most_speedup(noise_scale: float, batch: float, times: float) -> float:
    """Return how many times fewer steps a batch `times` as large needs for the same loss.

    McCandlish et al., section 2.3: steps are S_min (1 + scale / batch). It is the speed-up where a
    larger step, on more replicas, takes no longer.
    """
    return times * statistical_efficiency(noise_scale, times * batch, baseline=batch)
