"""What a replica reports of a step: a row of numbers.

They are those that the step gives to its Keras metrics, the scalars that it returns, and the norm
of its gradient, where that is asked for.
"""

import functools
import inspect
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf
from keras.src.metrics.reduction_metrics import reduce_to_samplewise_values
from keras.src.trainers.compile_utils import MetricsList
from keras.src.trainers.trainer import Trainer

from . import kerases
from .gradients import Gradients, is_here
from .kerases import Patches

PREFIXES = ("train_", "test_", "val_")
"""Of the names of metrics that are recorded as the same number of another phase."""
LOSS, ACCURACY = "loss", ("accuracy", "acc")
MAIN = LOSS, ACCURACY[0]
"""Names of numbers that a row holds as sums."""
GRADIENT_NORM = "gradient_norm"
SUMS = "Add", "AddV2", "AddN", "Cast", "Identity"
"""The types of operations whose results are sums of what they are given."""
RUNNING: set[str] = set()
"""Names of metrics whose results are no means of what they are given, such as AUC."""


class Given(NamedTuple):
    """What a step has given to a metric that is a mean."""

    metric: Any
    total: Any
    count: Any
    counts_examples: bool
    """Whether `count` is of examples; if not, of means over the replica's examples."""


class Step:
    """One step of one replica, while it is traced or, eagerly, run."""

    def __init__(self, *, keeps_gradients: bool = False) -> None:
        """Begin a step; `keeps_gradients`: its row holds the norm of its gradient, too."""
        self.trains, self.gradients = False, Gradients(kept=keeps_gradients)
        self.weights: list[Any] = []
        self.optimizer: Any = None
        """The optimizer that was given gradients last."""
        self.given: dict[str, Given] = {}
        """What metrics were given, by their names."""
        self.output = ""
        """The output of the model of which metrics are updated."""
        self.running: list[Any] = []
        """Results of metrics, which count earlier steps, too."""
        self.shares: list[tf.Tensor] = []
        """Losses that Keras has divided by the number of replicas."""
        self.divides = False
        self.averages: list[tuple[Any, Any]] = []
        """Losses that were divided by the examples of all replicas, and that number, if given."""
        self.metrics: list[Any] = []
        """The metrics that the step updates."""
        self.scalars: tuple[str, ...] = ()
        """The names of the other numbers, whose means over the examples end the `row`."""

    def differentiate(self, sources: Any) -> None:
        """Note of what gradients are taken: those of weights are taken in training."""
        found = map(kerases.variable_of, tf.nest.flatten(sources))
        weights = [each for each in found if isinstance(each, tf.Variable) and each.trainable]
        self.trains = self.trains or bool(weights)
        self.weights = self.weights or weights

    def add(self, metric: Any, total: Any, count: Any) -> None:
        """Count what a metric was given, perhaps part by part; `count` is None for a mean."""
        name = bare(f"{self.output}_{metric.name}" if self.output else metric.name)
        given = Given(metric, total, 1.0 if count is None else count, count is not None)
        earlier = self.given.setdefault(name, given)
        if earlier is given or earlier.metric is not metric:
            return
        if is_here(earlier.total) and is_here(earlier.count):
            given = given._replace(total=earlier.total + total, count=earlier.count + given.count)
        self.given[name] = given

    def whole(self, loss: Any) -> Any:
        """Return a loss as the mean over the replica's examples, if it is a share of that."""
        if not any(loss is each for each in self.shares):
            return loss
        return loss * tf.distribute.get_strategy().num_replicas_in_sync

    def returned(self, value: Any, examples: Any) -> Any:
        """Return a value that the step returns as the mean over the replica's examples."""
        parts = summands(value) if self.averages else {}
        for average, size in self.averages:
            if id(average) in parts:
                replicas = tf.distribute.get_strategy().num_replicas_in_sync
                return value * (replicas if size is None else size / tf.cast(examples, value.dtype))
        return self.whole(value)

    def is_running(self, name: str, result: Any) -> bool:
        """Return whether a number that the step returns counts earlier steps, too."""
        named = result.items() if isinstance(result, dict) else ()
        values = [value for key, value in named if bare(str(key)) == name]
        return name in RUNNING or any(value is each for value in values for each in self.running)

    def row(self, result: Any, inputs: Any) -> tf.Tensor | None:
        """Return loss sum, correct answers, examples, and `scalars`; None without any number."""
        given = {
            name: each
            for name, each in self.given.items()
            if is_here(each.total) and is_here(each.count)
        }
        counts = [each.count for each in given.values() if each.counts_examples]
        examples = counts[0] if counts else leading_size(inputs)
        if examples is None:
            return None
        reported = {k: self.returned(v, examples) for k, v in scalars(result).items()}
        returned = {k: v for k, v in reported.items() if k not in self.given}
        totals = {k: over(each.total, each.count, examples) for k, each in given.items()}
        totals |= {
            k: tf.math.multiply_no_nan(v, tf.cast(examples, v.dtype)) for k, v in returned.items()
        }
        if not totals:
            return None
        losses = [totals[name] for name in totals if not name.endswith(ACCURACY)]
        loss = totals.get(LOSS, next(iter(losses or totals.values())))
        measured = [ACCURACY[0], *(name for name in totals if name.endswith(ACCURACY))]
        correct = next((totals[name] for name in measured if name in totals), np.nan)
        means = {k: each.total / tf.cast(each.count, each.total.dtype) for k, each in given.items()}
        means |= {k: v for k, v in returned.items() if not self.is_running(k, result)}
        norm = self.gradients.norm()
        if norm is not None:
            means.setdefault(GRADIENT_NORM, norm)
        self.scalars = tuple(name for name in means if name not in MAIN)
        numbers = loss, correct, examples, *(means[name] for name in self.scalars)
        kind = tf.float64 if loss.dtype == tf.float64 else tf.float32
        return tf.stack([tf.cast(each, kind) for each in numbers])


def over(total: Any, count: Any, examples: Any) -> Any:
    """Return a sum over `count` values as one over so many examples."""
    if count is examples or (
        isinstance(count, float) and isinstance(examples, float) and count == examples
    ):
        return total
    count, examples = tf.cast(count, total.dtype), tf.cast(examples, total.dtype)
    other = tf.math.divide_no_nan(total, count) * examples
    return tf.where(tf.equal(count, examples), total, other)  # the same number is not rounded


def scalars(result: Any) -> dict[str, tf.Tensor]:
    """Return the floating scalars that a step returns, by name; a single one is its loss.

    Several without names are `value_1`, `value_2` and so on.
    """
    named = result if isinstance(result, dict) else {LOSS: result}
    if isinstance(result, tuple | list):
        named = {f"value_{number}": each for number, each in enumerate(result, 1)}
    found = {
        bare(str(name)): value.value if isinstance(value, keras.Variable) else value
        for name, value in named.items()
        if tf.is_tensor(value)
    }
    return {
        name: tf.cast(value, tf.float32) if value.dtype.size < 4 else value
        for name, value in found.items()
        if value.shape.rank == 0 and value.dtype.is_floating
    }


def summands(value: Any) -> dict[int, Any]:
    """Return a tensor, and in a graph also the tensors whose sum it is, by id."""
    found, left = dict[int, Any](), [value]
    while left:
        each = left.pop()
        if id(each) not in found and tf.is_symbolic_tensor(each) and each.op.type in SUMS:
            left += each.op.inputs
        found[id(each)] = each
    return found


def bare(name: str) -> str:
    """Return a number's name without the phase."""
    return next((name.removeprefix(each) for each in PREFIXES if name.startswith(each)), name)


def leading_size(inputs: Any) -> Any:
    """Return the first dimension of the first batched tensor: the replica's examples."""
    for leaf in tf.nest.flatten(inputs):
        if isinstance(leaf, np.ndarray) and leaf.shape:
            return float(len(leaf))
        if tf.is_tensor(leaf) and leaf.shape.rank:
            size = leaf.shape[0]
            return tf.cast(tf.shape(leaf)[0], tf.float32) if size is None else float(size)
    return None


_here = threading.local()
"""The step that the thread of a replica is in."""


def is_inside() -> bool:
    """Return whether this thread is in a step of a replica."""
    return getattr(_here, "step", None) is not None


def reporting(step: Callable, *, keeps_gradients: bool = False) -> Callable:
    """Return a replica's step that also returns the `Step` with what it reported, and its row."""

    @tf.autograph.experimental.do_not_convert
    @functools.wraps(step)
    def watched(*values: Any, **named: Any) -> tuple[Any, Step, tf.Tensor | None]:
        outer, seen = getattr(_here, "step", None), Step(keeps_gradients=keeps_gradients)
        _here.step = seen
        try:
            result = step(*values, **named)
            return result, seen, seen.row(result, (values, named))
        finally:
            _here.step = outer

    return watched


def watch_reports(patches: Patches) -> None:
    """Wrap Keras, so that a step's metrics and its optimizer report to the `Step` they are in."""
    for mean in kerases.MEAN_UPDATERS:
        patches.before(mean, "update_state", _report_metric)
    for metric in kerases.METRICS:
        patches.after(metric, "__init__", _note_metric)
    for group in kerases.GROUPS:
        patches.before(group, "update_state", _report_metrics)
    patches.wrap(MetricsList, "update_state", _reporting_output)
    for owner in kerases.RESETTERS:
        patches.after(owner, "get_metrics_result", _report_results)
    patches.wrap(Trainer, "compute_loss", _reporting_loss)
    patches.before(keras.src.losses.loss, "scale_loss_for_distribution", _report_division)
    patches.after(tf.nn, "compute_average_loss", _report_average)
    patches.wrap(tf.GradientTape, "gradient", _reporting_gradient)
    for optimizer, method in kerases.OPTIMIZERS:
        patches.wrap(optimizer, method, _reporting_optimizer)


def _report_metric(metric: Any, values: Any, sample_weight: Any = None) -> None:
    step = getattr(_here, "step", None)
    if step is None or not isinstance(metric, kerases.MEANS):
        return
    step.metrics.append(metric)
    given, weights = reduce_to_samplewise_values(
        step.whole(values), sample_weight, reduce_fn=keras.ops.mean, dtype=metric.dtype
    )
    count: Any = None
    if weights is not None:
        count = tf.reduce_sum(weights)
    elif given.shape.rank:
        count = leading_size([given])
    if type(metric).result in kerases.MEAN_RESULTS:
        step.add(metric, tf.reduce_sum(given), count)


def _report_metrics(metrics: Any, *_: Any, **__: Any) -> None:
    if (step := getattr(_here, "step", None)) is not None:
        step.metrics.append(metrics)


def _note_metric(result: None, metric: Any, *_: Any, **__: Any) -> None:
    if type(metric).result not in kerases.MEAN_RESULTS:
        RUNNING.add(bare(metric.name))


@tf.autograph.experimental.do_not_convert
def _report_results(results: dict[str, Any], _: Any) -> None:
    if (step := getattr(_here, "step", None)) is not None:
        step.running += results.values()


def _report_division(_: Any) -> None:
    if (step := getattr(_here, "step", None)) is not None:
        step.divides = True


def _report_average(loss: Any, *values: Any, **named: Any) -> None:
    if (step := getattr(_here, "step", None)) is not None:
        bound = inspect.signature(tf.nn.compute_average_loss).bind(*values, **named)
        step.averages.append((loss, bound.arguments.get("global_batch_size")))


def _reporting_output(update: Callable) -> Callable:
    def watched(metrics: Any, *values: Any, **named: Any) -> Any:
        if (step := getattr(_here, "step", None)) is None:
            return update(metrics, *values, **named)
        step.output = metrics.output_name or ""
        try:
            return update(metrics, *values, **named)
        finally:
            step.output = ""

    return watched


def _reporting_loss(compute: Callable) -> Callable:
    def watched(*values: Any, **named: Any) -> Any:
        if (step := getattr(_here, "step", None)) is None:
            return compute(*values, **named)
        step.divides = False
        loss = compute(*values, **named)
        step.shares += [loss] if step.divides else []
        return loss

    return watched


def _reporting_gradient(differentiate: Callable) -> Callable:
    def watched(tape: Any, target: Any, sources: Any, *rest: Any, **named: Any) -> Any:
        step = getattr(_here, "step", None)
        if step is None or step.gradients.is_inside:
            return differentiate(tape, target, sources, *rest, **named)
        step.differentiate(sources)
        if not step.gradients.kept:
            return differentiate(tape, target, sources, *rest, **named)
        with step.gradients.inside():
            found = differentiate(tape, target, sources, *rest, **named)
        step.gradients.take(target, sources, found)
        return found

    return watched


def _reporting_optimizer(apply: Callable) -> Callable:
    def watched(*values: Any, **named: Any) -> Any:
        step = getattr(_here, "step", None)
        if step is None or step.gradients.is_inside:
            return apply(*values, **named)
        bound = inspect.signature(apply).bind(*values, **named)
        found, step.weights = kerases.given(bound.arguments)
        step.trains, step.optimizer = True, values[0]
        if step.gradients.kept:
            step.gradients.apply(values[0], found, step.weights)
        with step.gradients.inside():
            return apply(*bound.args, **bound.kwargs)

    return watched
