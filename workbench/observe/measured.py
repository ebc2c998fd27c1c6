"""What Keras models measure beside their loss, such as compiled metrics, over each epoch."""

from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np
from keras.src.trainers.compile_utils import CompileMetrics
from keras.src.trainers.trainer import Trainer

from .patches import Patches
from .rows import LOSS


class Measured:
    """The results of a model's metrics, read before they are reset."""

    def __init__(self, patches: Patches, read: Callable[[], None]) -> None:
        """Wrap Keras; `read` is called before a model resets its metrics."""
        self.model: Any = None
        """The model whose metrics were reset last."""
        self.updated: dict[bool, set[int]] = {True: set(), False: set()}
        """The metrics that steps update, by id: those that train, and those that test."""
        self._before_reset = read
        patches.wrap(Trainer, "reset_metrics", self._watched_reset)

    def results(self, *, trains: bool) -> dict[str, float | None]:
        """Return what the model has measured; None: unknown, because no step measures it."""
        found = dict[str, float | None]()
        compile_loss = getattr(self.model, "_compile_loss", None)
        # The loss of each output is left out: in it, a short batch weighs as much as a full one.
        losses = {id(each) for each in getattr(compile_loss, "metrics", ())}
        metrics = [each for each in self.model.metrics if id(each) not in losses]
        for metric in metrics if self.model.compiled else ():
            if metric.name == LOSS:
                continue
            seen = isinstance(metric, keras.metrics.Mean | CompileMetrics)
            known = not seen or id(metric) in self.updated[trains]
            result = metric.result()
            for name, value in numbers(
                result if isinstance(result, dict) else {metric.name: result}
            ):
                rounded = value if value.is_integer() else float(f"{value:.6g}")
                found[name] = rounded if known and np.isfinite(value) else None
        return found

    def has_counted(self, examples: float) -> bool:
        """Return whether a metric has counted so many examples, and so all of the epoch."""
        means = [each for each in self.model.metrics if isinstance(each, keras.metrics.Mean)]
        return any(float(np.asarray(each.count)) == examples for each in means)

    def _watched_reset(self, reset: Callable) -> Callable:
        def watched(model: Any) -> None:
            self.model = model
            self._before_reset()
            reset(model)

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
