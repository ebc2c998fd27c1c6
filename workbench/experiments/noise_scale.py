"""The gradient noise scale: the batch size at which noise and direction are equally large.

Sources: McCandlish, Kaplan, Amodei and the OpenAI Dota Team, "An Empirical Model of Large-Batch
Training", 2018 (arXiv 1812.06162), and Qiao et al., "Pollux", OSDI 2021. The simple noise
scale of the plain gradient is measured; it leaves out the effect of an optimizer such as Adam.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workbench.interval import student_t

if TYPE_CHECKING:
    import numpy.typing as npt

    from workbench.runs.programs.noise import Gradients

    Doubles = npt.NDArray[np.float64]

LEAST_NOISE = 1e-12
"""A share of the gradients' squared norms; noise below it is only rounding."""
NO_DIRECTION = (
    "the gradients of different batches have no common direction that stands out from noise"
)
NO_NOISE = "all batches give the same gradient, so there is no noise to measure"


@dataclass(frozen=True)
class NoiseScale:
    """The noise scale at some weights, in examples; None is unknown."""

    step: int
    """Steps trained up to these weights; 0 for the first weights."""
    examples: float | None
    """The batch whose gradient has noise and direction of equal size: the critical batch."""
    low: float | None
    high: float | None
    """The ends of the 95 % interval. Low without high: the scale is at least `low`."""
    squared_gradient: float
    """Of the gradient that all examples share: an unbiased estimate, which may be < 0."""
    noise: float
    """The sum of the variances, over all weights, of a single example's gradient."""
    batches: int
    """The measured steps times replicas."""
    batch_size: int
    """Examples in each of these batches."""
    reason: str = ""
    """Why the scale, or its upper end, is unknown; empty if both are known."""


def estimate(found: Gradients) -> NoiseScale:
    """Return the noise scale with its interval, from gradients at fixed weights."""
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
    """Return the squared norm of the common gradient, and the variance of an example's gradient.

    Both are unbiased. They follow from the mean squared norms of gradients of batches of two
    sizes: McCandlish et al., appendix A.1. At the same weights the larger batch may be the
    examples of many steps together.
    """
    signal = (big_batch * big - small_batch * small) / (big_batch - small_batch)
    noise = (small - big) / (1 / small_batch - 1 / big_batch)
    return np.asarray(signal), np.asarray(noise)


def signal_per_noise(
    small: Doubles, products: Doubles, size: int, batches: int
) -> tuple[Doubles, Doubles]:
    """Return the inverse of the noise scale, and the half width of its 95 % interval.

    The inverse is used, because its interval has an end even if the noise scale's interval has
    none. It is a ratio of means over all steps. Its variance comes from the jackknife, which leaves
    out one group of steps at a time (Efron and Stein, "The Jackknife Estimate of Variance", 1981:
    its estimate is not too low on average).

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
    """Return an end of the noise scale's interval; None if it has none."""
    return 1 / ratio if ratio > 0 else None


def statistical_efficiency(noise_scale: float, batch: float, baseline: float = 0.0) -> float:
    """Return an example's worth in steps of `batch`, as a share of its worth at `baseline`.

    Qiao et al., section 3.1: (scale + baseline) / (scale + batch). A baseline of 0 means the
    smallest possible steps. Then it is the least number of examples that were needed for each
    example that is taken now: McCandlish et al., section 2.3, E_min / E.
    """
    return (noise_scale + baseline) / (noise_scale + batch)


def most_speedup(noise_scale: float, batch: float, times: float) -> float:
    """Return how many times fewer steps a batch `times` as large needs for the same loss.

    McCandlish et al., section 2.3: steps are S_min (1 + scale / batch). It is the speed-up if a
    larger step, on more replicas, takes no longer.
    """
    return times * statistical_efficiency(noise_scale, times * batch, baseline=batch)
