"""What Keras models measure beside their loss, such as compiled metrics, over each epoch."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import kerases
from .patches import Patches
from .rows import LOSS

FOLLOWED = (*kerases.MEANS, *kerases.GROUPS)
"""The classes of metrics of which it is known whether a step updates them."""


class Measured:
    """The results of a model's metrics, read before they are reset."""

    def __init__(
        self,
        patches: Patches,
        read: Callable[[], None],
        evaluated: Callable[[], None],
        fitted: Callable[[], None],
    ) -> None:
        """Wrap Keras.

        `read` is called before a model resets its metrics, `evaluated` after a model was tested,
        `fitted` after each epoch of `fit`.
        """
        self.model: Any = None
        """The model whose metrics were reset last."""
        self.updated: dict[bool, set[int]] = {True: set(), False: set()}
        """The metrics that steps update, by id: those that train, and those that test."""
        self._before_reset, self._evaluated, self._fitted = read, evaluated, fitted
        for owner in kerases.RESETTERS:
            patches.wrap(owner, "reset_metrics", self._watched_reset)
        for owner in kerases.EVALUATORS:
            patches.wrap(owner, "evaluate", self._watched_evaluate)
        for owner in kerases.CALLBACKS:
            patches.wrap(owner, "on_epoch_end", self._watched_epoch)

    def results(self, *, trains: bool) -> dict[str, float | None]:
        """Return what the model has measured; None: unknown, because no step measures it."""
        found = dict[str, float | None]()
        compile_loss = getattr(self.model, "_compile_loss", None)
        compile_loss = compile_loss or getattr(self.model, "compiled_loss", None)  # of tf-keras
        # The loss of each output is left out: in it, a short batch weighs as much as a full one.
        losses = {id(each) for each in getattr(compile_loss, "metrics", ())}
        metrics = [each for each in self.model.metrics if id(each) not in losses]
        followed = {id(each) for each in metrics if isinstance(each, FOLLOWED)}
        if followed and followed.isdisjoint(self.updated[True] | self.updated[False]):
            return {}  # a model of which no step was watched
        for metric in metrics if getattr(self.model, "compiled", True) else ():
            if metric.name == LOSS:
                continue
            known = id(metric) not in followed or id(metric) in self.updated[trains]
            result = metric.result()
            for name, value in numbers(
                result if isinstance(result, dict) else {metric.name: result}
            ):
                rounded = value if value.is_integer() else float(f"{value:.6g}")
                found[name] = rounded if known and np.isfinite(value) else None
        return found

    def has_counted(self, examples: float) -> bool:
        """Return whether a metric has counted so many examples, and so all of the epoch."""
        means = [each for each in self.model.metrics if isinstance(each, kerases.MEANS)]
        return any(float(np.asarray(each.count)) == examples for each in means)

    def _watched_reset(self, reset: Callable) -> Callable:
        def watched(model: Any) -> None:
            self.model = model
            self._before_reset()
            reset(model)

        return watched

    def _watched_epoch(self, end: Callable) -> Callable:
        def watched(callbacks: Any, *given: Any, **named: Any) -> None:
            self._fitted()
            end(callbacks, *given, **named)

        return watched

    def _watched_evaluate(self, evaluate: Callable) -> Callable:
        def watched(*given: Any, **named: Any) -> Any:
            results = evaluate(*given, **named)
            self._evaluated()
            return results

        return watched


def numbers(results: dict[str, Any], before: str = "") -> Iterator[tuple[str, float]]:
    """Yield names and numbers; leave out arrays, such as one value per class, and None."""
    for name, value in results.items():
        if isinstance(value, dict):
            yield from numbers(value, f"{before}{name}_")
        elif (
            value is not None
            and (found := np.asarray(value)).ndim == 0
            and found.dtype.kind in "biuf"
        ):
            yield before + name, float(found)
