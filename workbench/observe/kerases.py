"""How methods are watched, and the classes of Keras that have them.

They are those of Keras 3, and of tf-keras where that is `tf.keras`.
"""

import functools
import os
from collections.abc import Callable
from typing import Any

import keras
from keras.src.backend.tensorflow.trainer import TensorFlowTrainer
from keras.src.trainers.compile_utils import CompileMetrics
from keras.src.trainers.trainer import Trainer

MODELS: list[Any] = [keras.Model]
RESETTERS: list[Any] = [Trainer]
"""Classes with the methods `reset_metrics` and `get_metrics_result` of models."""
METRICS: list[Any] = [keras.metrics.Metric]
EVALUATORS: list[Any] = [TensorFlowTrainer]
CALLBACKS: list[Any] = [keras.callbacks.CallbackList]
"""Classes that call all callbacks of `fit`."""
MEANS: Any = (keras.metrics.Mean,)
MEAN_UPDATERS: list[Any] = [keras.metrics.Mean]
"""Classes with the method `update_state` of means."""
MEAN_RESULTS = [keras.metrics.Mean.result]
"""The method `result` of means whose result is the mean of what they are given."""
GROUPS: Any = (CompileMetrics,)
"""Classes that hold the metrics with which a model is compiled."""
OPTIMIZERS: list[tuple[Any, str]] = [
    (keras.src.optimizers.base_optimizer.BaseOptimizer, "apply"),
    (keras.optimizers.LossScaleOptimizer, "apply"),
]
"""Classes of optimizers, and their method that takes gradients."""
if hasattr(keras.optimizers, "MultiOptimizer"):  # 3.14.0 lacks it, 3.15.1 has it
    OPTIMIZERS.append((keras.optimizers.MultiOptimizer, "apply"))

if os.environ.get("TF_USE_LEGACY_KERAS", "").lower() in ("1", "true"):
    import tf_keras
    from tf_keras.src.engine.compile_utils import MetricsContainer
    from tf_keras.src.metrics.base_metric import Reduce
    from tf_keras.src.mixed_precision import loss_scale_optimizer

    for owners in (MODELS, RESETTERS, EVALUATORS):
        owners.append(tf_keras.Model)
    CALLBACKS.append(tf_keras.callbacks.CallbackList)
    MEANS += (tf_keras.metrics.Mean,)
    METRICS.append(tf_keras.metrics.Metric)
    MEAN_UPDATERS.append(Reduce)
    MEAN_RESULTS.append(Reduce.result)
    GROUPS += (MetricsContainer,)
    for optimizer in (
        tf_keras.optimizers.Optimizer,
        tf_keras.optimizers.legacy.Optimizer,
        loss_scale_optimizer.LossScaleOptimizer,
        loss_scale_optimizer.LossScaleOptimizerV3,
    ):
        OPTIMIZERS.append((optimizer, "apply_gradients"))


class Patches:
    """The wrapped methods, to take the wraps off again."""

    def __init__(self) -> None:
        self.originals: list[tuple[Any, str, Any]] = []

    def wrap(self, owner: Any, name: str, make: Callable[[Callable], Callable]) -> None:
        """Put the function that `make` returns for a method in its place."""
        original = vars(owner)[name]
        self.originals.append((owner, name, original))
        setattr(owner, name, functools.wraps(original)(make(original)))

    def before(self, owner: Any, name: str, act: Callable[..., None]) -> None:
        """Have a function called before each call of a method, with the same arguments."""

        def make(method: Callable) -> Callable:
            def watched(*given: Any, **named: Any) -> Any:
                act(*given, **named)
                return method(*given, **named)

            return watched

        self.wrap(owner, name, make)

    def after(self, owner: Any, name: str, act: Callable[..., None]) -> None:
        """Have a function called after each call of a method, with its result and arguments."""

        def make(method: Callable) -> Callable:
            def watched(*given: Any, **named: Any) -> Any:
                result = method(*given, **named)
                act(result, *given, **named)
                return result

            return watched

        self.wrap(owner, name, make)

    def undo(self) -> None:
        """Put the methods back."""
        while self.originals:
            setattr(*self.originals.pop())


def variable_of(weight: Any) -> Any:
    """Return the variable of TensorFlow that a weight is, or that a weight of Keras 3 holds."""
    return weight._value if isinstance(weight, keras.Variable) else weight


def calls_of(optimizer: Any) -> Any:
    """Return the variable that counts how often an optimizer was given gradients."""
    inner = getattr(optimizer, "inner_optimizer", optimizer)
    counted = getattr(inner, "_iterations", None)  # `iterations` leaves out what is accumulated
    return variable_of(inner.iterations if counted is None else counted)


def given(values: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """Return the gradients and the weights in the arguments of a method of `OPTIMIZERS`.

    What can be read only once is replaced in the arguments.
    """
    if "grads_and_vars" in values:  # of tf-keras
        values["grads_and_vars"] = pairs = [tuple(pair) for pair in values["grads_and_vars"]]
        return [gradient for gradient, _ in pairs], [weight for _, weight in pairs]
    values["grads"] = gradients = list(values["grads"])
    if values.get("trainable_variables") is None:
        return gradients, list(values["self"]._trainable_variables)
    values["trainable_variables"] = weights = list(values["trainable_variables"])
    return gradients, weights


def loss_scales(optimizer: Any) -> tuple[Any, Any]:
    """Return the factors of the gradients of a scaled loss, and of those an optimizer is given."""
    if hasattr(optimizer, "scale_loss"):
        scale = optimizer.scale_loss(1.0)
        return scale, scale
    return getattr(optimizer, "loss_scale", 1.0), 1.0  # a step with tf-keras divides them itself
