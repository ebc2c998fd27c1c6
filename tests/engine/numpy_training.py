"""Training computed apart from TensorFlow and Keras: NumPy, float64, one example's chain rule.

A network of dense layers, relu within and a sigmoid at its end, learns by binary cross-entropy and
gradient descent with momentum. Nothing here knows of replicas: a step takes the mean over its whole
batch, which is what the replicas of a synchronous strategy are to agree on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
EPSILON = 1e-7
"""Keras keeps a probability this far from 0 and 1: `keras.config.epsilon`."""


@dataclass(frozen=True)
class Rule:
    """How weights are updated."""

    learning_rate: float
    momentum: float = float(np.float32(0.9))
    """Keras casts the number by way of float32: `SGD.update_step`."""
    l2: float = 0.0
    """Of the first kernel: the penalty is l2 times the sum of its squares."""
    clip_norm: float | None = None


def train(
    weights: Sequence[Array],
    features: Array,
    labels: Array,
    steps: Sequence[NDArray[np.int64]],
    rule: Rule,
) -> tuple[Array, list[Array]]:
    """Return the loss of each step with its penalty, and the weights in the end.

    `weights` are kernels and biases in turn, labels [examples, 1], `steps` the rows of each step.
    """  # fmt: skip
    own = [weight.astype(np.float64) for weight in weights]
    velocity = [np.zeros_like(weight) for weight in own]
    losses = []
    for rows in steps:
        loss, gradient = differentiate(own, features[rows], labels[rows], rule.l2)
        losses.append(loss)
        norm = np.sqrt(sum(np.sum(part**2) for part in gradient))
        if rule.clip_norm is not None:
            gradient = [part * min(1.0, rule.clip_norm / norm) for part in gradient]
        for at, part in enumerate(gradient):
            velocity[at] = rule.momentum * velocity[at] - rule.learning_rate * part
            own[at] = own[at] + velocity[at]
    return np.array(losses), own


def differentiate(
    weights: list[Array], features: Array, labels: Array, l2: float
) -> tuple[float, list[Array]]:
    """Return the mean loss over a batch with its penalty, and its gradient by each weight."""
    kernels, biases = weights[::2], weights[1::2]
    inputs, values = [features], features
    for at, (kernel, bias) in enumerate(zip(kernels, biases, strict=True)):
        score = values @ kernel + bias
        last = at == len(kernels) - 1
        values = 1 / (1 + np.exp(-score)) if last else np.maximum(score, 0)
        inputs.append(values)
    chance = np.clip(values, EPSILON, 1 - EPSILON)
    each = -(labels * np.log(chance) + (1 - labels) * np.log(1 - chance))
    loss = each.mean() + l2 * np.sum(kernels[0] ** 2)
    by_score = np.where(chance == values, (values - labels) / len(labels), 0.0)
    gradient: list[Array] = []
    for at in reversed(range(len(kernels))):
        gradient[:0] = [inputs[at].T @ by_score, by_score.sum(axis=0)]
        by_score = (by_score @ kernels[at].T) * (inputs[at] > 0)
    gradient[0] += 2 * l2 * kernels[0]
    return float(loss), gradient
