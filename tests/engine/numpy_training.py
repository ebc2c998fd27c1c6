"""Training computed without TensorFlow and Keras: NumPy, float64, the chain rule by hand.

A network of dense layers, with relu inside and a sigmoid at its end, learns by binary
cross-entropy and gradient descent with momentum. It has no replicas: a step takes the mean over its
whole batch, the value on which the replicas of a synchronous strategy must agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
EPSILON = 1e-7
"""The least distance of a probability from 0 and 1 in Keras: `keras.config.epsilon`."""


@dataclass(frozen=True)
class Rule:
    """The rule that updates the weights."""

    learning_rate: float
    momentum: float = float(np.float32(0.9))
    """Keras first casts the number to float32: `SGD.update_step`."""
    l2: float = 0.0
    """The penalty of the first kernel is l2 times the sum of its squares."""
    clip_norm: float | None = None


def train(
    weights: Sequence[Array],
    features: Array,
    labels: Array,
    steps: Sequence[NDArray[np.int64]],
    rule: Rule,
) -> tuple[Array, list[Array]]:
    """Return the loss of each step with its penalty, and the weights at the end.

    `weights`: kernels and biases in turn; `labels`: [examples, 1]; `steps`: the rows of each step.
    """  # fmt: skip
    current = [weight.astype(np.float64) for weight in weights]
    velocity = [np.zeros_like(weight) for weight in current]
    losses = []
    for rows in steps:
        loss, gradient = differentiate(current, features[rows], labels[rows], rule.l2)
        losses.append(loss)
        norm = np.sqrt(sum(np.sum(part**2) for part in gradient))
        if rule.clip_norm is not None:
            gradient = [part * min(1.0, rule.clip_norm / norm) for part in gradient]
        for index, part in enumerate(gradient):
            velocity[index] = rule.momentum * velocity[index] - rule.learning_rate * part
            current[index] = current[index] + velocity[index]
    return np.array(losses), current


def differentiate(
    weights: list[Array], features: Array, labels: Array, l2: float
) -> tuple[float, list[Array]]:
    """Return the mean loss of a batch with its penalty, and its gradient for each weight."""
    kernels, biases = weights[::2], weights[1::2]
    inputs, values = [features], features
    for index, (kernel, bias) in enumerate(zip(kernels, biases, strict=True)):
        score = values @ kernel + bias
        last = index == len(kernels) - 1
        values = 1 / (1 + np.exp(-score)) if last else np.maximum(score, 0)
        inputs.append(values)
    probability = np.clip(values, EPSILON, 1 - EPSILON)
    example_losses = -(labels * np.log(probability) + (1 - labels) * np.log(1 - probability))
    loss = example_losses.mean() + l2 * np.sum(kernels[0] ** 2)
    by_score = np.where(probability == values, (values - labels) / len(labels), 0.0)
    gradient: list[Array] = []
    for index in reversed(range(len(kernels))):
        gradient[:0] = [inputs[index].T @ by_score, by_score.sum(axis=0)]
        by_score = (by_score @ kernels[index].T) * (inputs[index] > 0)
    gradient[0] += 2 * l2 * kernels[0]
    return float(loss), gradient
