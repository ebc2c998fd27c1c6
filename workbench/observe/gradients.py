"""The gradients of a step: of a replica alone, before they are summed over the replicas."""

import contextlib
import itertools
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from .kerases import loss_scales, variable_of

SEVERAL = object()
"""In place of a gradient that tapes took several times."""


class Gradients:
    """What tapes and optimizers do in a step, while it is traced or, eagerly, run."""

    def __init__(self, *, kept: bool) -> None:
        """Begin a step; without `kept`, nothing of it is noted."""
        self.kept = kept
        self.loss, self.last = None, list[Any]()
        """The loss of which a tape took gradients last, and these."""
        self.taken: dict[int, tuple[Any, Any]] = {}
        """The variables of which tapes took gradients, and these, by the variables' ids."""
        self.applied = list[Any]()
        """The gradients that an optimizer was given last."""
        self.own: list[tuple[Any, Any]] = []
        """The gradients that optimizers were given, as tapes took them, and their scales."""
        self.is_inside = False
        """Whether a tape takes gradients, or an optimizer applies them."""

    @contextlib.contextmanager
    def inside(self) -> Iterator[None]:
        """Note nothing that a call of a tape or of an optimizer does itself."""
        self.is_inside = True
        try:
            yield
        finally:
            self.is_inside = False

    def take(self, loss: Any, sources: Any, gradients: Any) -> None:
        """Note the gradients that a tape took."""
        self.loss, self.last = loss, tf.nest.flatten(gradients)
        variables = map(variable_of, tf.nest.flatten(sources))
        for variable, gradient in zip(variables, self.last, strict=True):
            known = id(variable) in self.taken
            self.taken[id(variable)] = variable, SEVERAL if known else gradient

    def apply(self, optimizer: Any, gradients: list[Any], weights: list[Any]) -> None:
        """Note the gradients that an optimizer is given."""
        self.applied, (scale, given_scale) = gradients, loss_scales(optimizer)
        for variable, given in zip(map(variable_of, weights), gradients, strict=False):
            # As the tape took it, because the step may clip it or sum it over the replicas. But if
            # tapes took several, the step has added them up.
            _, taken = self.taken.pop(id(variable), (None, SEVERAL))
            known = taken is not SEVERAL and is_here(taken)
            self.own.append((taken, scale) if known else (given, given_scale))

    def norm(self) -> tf.Tensor | None:
        """Return the norm of all gradients that optimizers were given; None if it is unknown."""
        parts = [(part, scale) for part, scale in self.own if part is not None]
        if not parts or not all(map(is_here, itertools.chain(*parts))):
            return None
        wide = any(part.dtype == tf.float64 for part, _ in parts)
        kind = tf.float64 if wide else tf.float32
        return tf.linalg.global_norm(
            [tf.cast(with_rows_once(part), kind) / tf.cast(scale, kind) for part, scale in parts]
        )


def is_here(value: Any) -> bool:
    """Return whether a tensor can be used where the step ends, outside of inner functions."""
    if value is None or isinstance(value, float):
        return True
    if tf.executing_eagerly():
        return not tf.is_symbolic_tensor(value)
    return value.graph is tf.compat.v1.get_default_graph()


def with_rows_once(gradient: Any) -> tf.Tensor:
    """Return a gradient; of rows of a table, which it may hold several times, their sums."""
    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    rows, places = tf.unique(gradient.indices)
    return tf.math.unsorted_segment_sum(gradient.values, places, tf.size(rows))
