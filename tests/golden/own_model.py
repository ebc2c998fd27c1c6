"""The user's model on Synthetic: Mirrored strategy, 2 virtual replicas, Keras fit."""

import contextlib
import re
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

SEED = 42  # decides data, first weights and order of examples
REPLICAS = 2  # virtual devices that share a physical one
CROSS_DEVICE_OPS = tf.distribute.ReductionToOneDevice()  # how gradients are summed
NUM_TRAIN_EXAMPLES = 10_000  # examples to train on
NUM_TEST_EXAMPLES = 2_000  # examples to test on
NUM_FEATURES = 10  # numbers in an example
NOISE = 0.1  # standard deviation of the score's noise
PER_REPLICA_BATCH_SIZE = 64  # examples that each replica takes in a step
GLOBAL_BATCH_SIZE = 128  # 64 x 2 replicas
EPOCHS = 5  # each followed by a test pass
STEPS_PER_EPOCH = 78  # 10,000 examples, 78 steps an epoch; 16 examples left out
TEST_STEPS = 16  # every test example once
STEPS_PER_STACK = 1  # batches in one element of the pipeline
STEPS_PER_EXECUTION = 50  # steps between two callbacks
STEPS_PER_CALL = None  # in a graph call; None: enough for 0.2 s
RUN_EAGERLY = False  # True: no graphs, for debugging


def make_strategy() -> tf.distribute.Strategy:
    """Copy the model to each part of the CPU; every step sums the gradients of all."""
    tf.config.set_visible_devices([], "GPU")
    cpu = tf.config.list_physical_devices("CPU")[0]
    parts = [tf.config.LogicalDeviceConfiguration()] * REPLICAS
    tf.config.set_logical_device_configuration(cpu, parts)
    devices = [f"CPU:{number}" for number in range(REPLICAS)]
    return tf.distribute.MirroredStrategy(devices, cross_device_ops=CROSS_DEVICE_OPS)


def make_data() -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """Return (features, labels) to train on and to test on; labels follow a noisy linear rule."""
    random = np.random.default_rng(SEED)
    examples = NUM_TRAIN_EXAMPLES + NUM_TEST_EXAMPLES
    features = random.standard_normal((examples, NUM_FEATURES), np.float32)
    score = features @ random.standard_normal(NUM_FEATURES, np.float32)
    labels = (score + NOISE * random.standard_normal(examples) > 0).astype(np.float32)[:, None]
    parts = (np.split(array, [NUM_TRAIN_EXAMPLES]) for array in (features, labels))
    return tuple(zip(*parts))


def make_batches(
    strategy: tf.distribute.Strategy, start_step: int
) -> tuple[tf.distribute.DistributedDataset, ...]:
    """Return the training batches from a step on, without end, and the test batches.

    The strategy splits each global batch among its replicas.
    """
    examples, tests = make_data()
    examples = tf.nest.map_structure(tf.constant, examples)

    def batch_at(step: tf.Tensor) -> tuple[tf.Tensor, ...]:
        first = step % STEPS_PER_EPOCH * GLOBAL_BATCH_SIZE
        rows = shuffled_rows(step // STEPS_PER_EPOCH, first, GLOBAL_BATCH_SIZE)
        return tf.nest.map_structure(lambda part: tf.gather(part, rows), examples)

    train = tf.data.Dataset.counter(start_step).map(batch_at, tf.data.AUTOTUNE)
    test = tf.data.Dataset.from_tensor_slices(tests).batch(GLOBAL_BATCH_SIZE)
    options = tf.distribute.InputOptions(experimental_per_replica_buffer_size=4)
    return tuple(
        strategy.experimental_distribute_dataset(batches.prefetch(tf.data.AUTOTUNE), options)
        for batches in (train, test)
    )


def one_example() -> tuple[Any, Any]:
    """Return a batch of one example: the first to train on, or zeros for a tf.data.Dataset."""
    train, _ = make_data()

    def first(part: Any) -> tf.Tensor:
        if isinstance(part, tf.TypeSpec):
            return tf.zeros([1, *(size or 1 for size in part.shape)], part.dtype)
        return tf.constant(part[:1])

    examples = train.element_spec if isinstance(train, tf.data.Dataset) else train
    return tf.nest.map_structure(first, examples)


def rank_of(loss: Any, compute: Callable) -> int | None:
    """Return the rank of what a loss returns while `compute` runs, before Keras takes the mean."""
    ranks, call = list[int | None](), loss.call

    def noted(*given: Any) -> tf.Tensor:
        losses = call(*given)
        ranks.append(losses.shape.rank)
        return losses

    loss.call = noted
    compute()
    loss.call = call
    return ranks[-1] if ranks else None


def check_losses(model: tf.keras.Model, compute: Callable) -> None:
    """End if a loss is not a mean over the examples: replicas can share out only such a loss.

    Gradients are summed, so Keras divides such a mean by the number of replicas; it leaves a sum as
    it is, and Keras 3 also one number for a whole batch. `compute` makes the model take its losses.
    """
    legacy = not hasattr(model, "_compile_loss")  # of the package tf-keras
    kept = model.compiled_loss if legacy else model._compile_loss
    parts = (kept._losses if legacy else kept._flat_losses) if kept else []
    for loss in tf.nest.flatten(parts) if legacy else [part.loss for part in parts or []]:
        if type(loss).__call__ is not tf.keras.losses.Loss.__call__:
            raise SystemExit(
                f"Needs a loss whose class defines call; {type(loss).__name__} defines __call__, "
                "so Keras does not divide the loss by the number of replicas. Define call instead, "
                "and return the loss of each example."
            )
        reduction = getattr(loss, "reduction", "mean")
        if reduction not in ("auto", "sum_over_batch_size", "mean", "mean_with_sample_weight"):
            raise SystemExit(
                f"Needs losses that are the mean over the examples, as Keras' are; {loss.name} has "
                f"the reduction {reduction}, so loss and gradient grow with the batch. "
                "Leave reduction out."
            )
        if not legacy and rank_of(loss, compute) == 0:
            raise SystemExit(
                f"Needs a loss of each example; {loss.name} gives one number for the whole batch, "
                "which Keras does not divide by the number of replicas. Take the mean over the "
                "last axis only: axis=-1."
            )


@contextlib.contextmanager
def needs_fitting(name: str, features: Any) -> Iterator[None]:
    """End with the reason if the model of the function `name` cannot take these features."""
    try:
        yield
    except Exception as error:
        shapes = tf.nest.map_structure(
            lambda part: f"{tuple(part.shape)} {part.dtype.name}", features
        )
        message = re.sub(r"\x1b\[\d*m", "", str(error)).partition("Arguments received by")[0]
        reason = " ".join(message.split())[:500].rstrip(".") or type(error).__name__
        fix = "Make the model fit the data."
        if "string" in reason and tf.string in [part.dtype for part in tf.nest.flatten(features)]:
            fix = (
                "Turn text into numbers: by keras.layers.StringLookup or TextVectorization in the "
                "model, or by a mapping in the function of the data."
            )
        raise SystemExit(
            f"Needs a model that takes the data; {name}'s, given features of {shapes}: "
            f"{reason}. {fix}"
        ) from error


def check_model(function: Callable, make_optimizer: Callable | None = None) -> tf.keras.Model:
    """Return the model of the user's function, built, or end with why it cannot be trained.

    The model keeps the optimizer that it is compiled with, unless `make_optimizer` makes another.
    """
    model, name = function(), function.__name__
    kinds = {(kind.__module__.split(".")[0], kind.__name__) for kind in type(model).__mro__}
    if not isinstance(model, tf.keras.Model) and ("keras", "Model") in kinds:
        got = "a model of Keras 3, but tf.keras is Keras 2 here. Import keras through tf.keras"
    elif not isinstance(model, tf.keras.Model):
        got = f"{type(model).__name__}. Return the model"
    elif not model.loss and type(model).compute_loss is tf.keras.Model.compute_loss:
        got = "a model without a loss. Call model.compile(loss=...) before returning it"
    else:
        features, labels = one_example()
        # Make all weights and variables of losses and metrics now: a loop cannot.
        with needs_fitting(name, features):
            outputs = model(features, training=False)
        check_labels(model, outputs)
        with needs_fitting(name, features):
            model.compute_loss(features, labels, outputs)
            # With two examples, because a loss that squeezes returns a single number for one.
            pair, answers = tf.nest.map_structure(
                lambda part: tf.concat([part, part], axis=0), (features, labels)
            )
            predicted = model(pair, training=False)
            check_losses(model, lambda: model.compute_loss(pair, answers, predicted))
            model.compute_metrics(features, labels, outputs, sample_weight=None)
        if not model.trainable_variables:
            raise SystemExit(
                f"Needs a model with weights to train; all of {name}'s are frozen, or it has none. "
                "Set trainable = True on a layer before it is compiled."
            )
        model.reset_metrics()
        model.optimizer = make_optimizer() if make_optimizer else model.optimizer
        return model
    raise SystemExit(f"Needs a tf.keras.Model compiled with its loss; {name} returned {got}.")


def make_model() -> tf.keras.Model:
    """The user's model."""
    del sys.argv[1:]  # they are this script's
    from own_model import build_model  # your own file own_model.py

    return check_model(build_model)


def watched_steps(model: tf.keras.Model) -> list[Callable]:
    """Wrap the model's own train_step and test_step so that they return what is recorded.

    Both return the replica's sum of losses, its right answers (NaN: unknown) and its examples.
    """
    correct, seen = make_correct(model), threading.local()  # each replica has its thread
    compute_loss = model.compute_loss

    def watched_loss(
        x: Any = None, y: Any = None, y_pred: Any = None, *rest: Any, **named: Any
    ) -> tf.Tensor:
        loss = compute_loss(x, y, y_pred, *rest, **named)
        # Keras divides a replica's mean by the replicas, because their gradients are summed.
        mean = loss * tf.distribute.get_strategy().num_replicas_in_sync
        examples = tf.cast(tf.shape(tf.nest.flatten(y)[0])[0], loss.dtype)
        right = tf.cast(correct(y, y_pred), loss.dtype)
        # A short last batch may leave a replica without examples: then the mean is NaN.
        seen.row = tf.stack([tf.math.multiply_no_nan(mean, examples), right, examples])
        return loss

    def recorded(step: Callable) -> Callable:
        def run(batch: tuple[Any, ...]) -> tf.Tensor:
            seen.row = None
            step(batch)
            if seen.row is None:
                raise SystemExit(
                    f"Losses are recorded in self.compute_loss; {step.__name__} of {model.name} "
                    "does not call it. Take the loss from there."
                )
            return seen.row

        return run

    model.compute_loss = watched_loss
    model.reset_metrics = lambda: None  # the recorder resets them after its report
    return [recorded(model.train_step), recorded(model.test_step)]


def make_steps(model: tf.keras.Model) -> list[Callable]:
    """Return two functions of a replica's part of a batch: one to train, one to test."""
    return watched_steps(model)


def make_loops(strategy: tf.distribute.Strategy, *steps: Callable) -> list[Callable]:
    """Return, for each kind of step, a graph function that runs many such steps in one call.

    It returns an array [step, replica, 3] of the results of all replicas.
    """

    def in_graph(step: Callable) -> Callable:
        @tf.function
        def run(iterator: tf.distribute.DistributedIterator, count: tf.Tensor) -> tf.Tensor:
            rows = tf.TensorArray(tf.keras.backend.floatx(), size=count)
            for number in tf.range(count):
                values = strategy.run(step, args=(next(iterator),))
                rows = rows.write(number, tf.stack(strategy.experimental_local_results(values)))
            return rows.stack()

        return run

    return [in_graph(step) for step in steps]


def main() -> None:
    """Train with Keras `fit`, from the first step or from the last checkpoint."""
    recorder = Recorder()
    strategy = make_strategy()
    tf.keras.utils.set_random_seed(SEED)
    tf.config.run_functions_eagerly(RUN_EAGERLY)
    with strategy.scope():
        model = make_model()
        model.steps_per_execution = STEPS_PER_EXECUTION
    recorder.restore(strategy, model)
    train_data, test_data = make_batches(strategy, recorder.step)
    train_steps, test_steps = make_loops(strategy, *make_steps(model))

    def train_function(iterator: tf.distribute.DistributedIterator) -> dict[str, float]:
        left = (recorder.epoch + 1) * STEPS_PER_EPOCH - recorder.step
        return recorder.train(train_steps, iterator, min(STEPS_PER_EXECUTION, left))

    def test_function(iterator: tf.distribute.DistributedIterator) -> dict[str, float]:
        return recorder.test(test_steps, iterator, TEST_STEPS)

    # Keras calls these for every execution; they run Keras' steps and record each.
    model.train_function, model.test_function = train_function, test_function
    model._maybe_symbolic_build = lambda **_: None  # built above; else Keras takes a batch
    model.fit(
        train_data,
        initial_epoch=recorder.epoch,
        epochs=EPOCHS,
        steps_per_epoch=STEPS_PER_EPOCH,
        validation_data=test_data,
        validation_steps=1,
        shuffle=False,
        verbose=0,
    )
    recorder.finish()


# The recorder of all scripts stands here.


# ---- Helpers of the functions at the top. ----
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf


def shuffled_rows(epoch: tf.Tensor, first: tf.Tensor, count: int) -> tf.Tensor:
    """Return the examples at `count` positions of an epoch. Only seed and epoch decide them."""
    positions = (first + tf.range(count, dtype=tf.int64)) % NUM_TRAIN_EXAMPLES
    seed = tf.stack([SEED, epoch])
    return tf.random.experimental.index_shuffle(positions, seed, NUM_TRAIN_EXAMPLES - 1)


def by_output(part: Any, names: list[str]) -> list[Any]:
    """Return the part of each output: by name from a dict, by place from a list, else for all."""
    if isinstance(part, dict):
        return [part.get(name) for name in names]
    return list(part) if isinstance(part, (list, tuple)) else [part] * len(names)


def names_of_outputs(model: tf.keras.Model, outputs: Any) -> list[str]:
    """Return the names by which losses and labels in a dict name outputs; else numbers from 0."""
    if isinstance(outputs, dict):
        return list(outputs)
    count = len(outputs) if isinstance(outputs, (list, tuple)) else 1
    return getattr(model, "output_names", None) or list(map(str, range(count)))


def label_limits(model: tf.keras.Model, outputs: Any) -> dict[str, tuple]:
    """Return for each output whose labels have a limit: highest label, ignored label, its needs."""
    names, several = names_of_outputs(model, outputs), isinstance(outputs, (dict, list, tuple))
    losses, values = by_output(model.loss, names), by_output(outputs, names)
    limits = {}
    for name, loss, value in zip(names, losses, values):
        kind = loss if isinstance(loss, str) else getattr(loss, "__name__", type(loss).__name__)
        kind, ignored = kind.replace("_", "").lower(), None
        if kind == "sparsecategoricalcrossentropy" and tf.is_tensor(value):
            ignored = getattr(loss, "_fn_kwargs", {}).get("ignore_class")
            outs = value.shape[-1]
            has = f"{outs} output{'s' * (outs > 1)}" + f" in its output {name}" * several
            fix = "Number the classes from 0, or give the model as many outputs as classes."
            if outs == 1:
                fix = (
                    "For two classes and one output choose BinaryCrossentropy, with "
                    "from_logits=True if the output has no sigmoid; or give the model an output "
                    "for each class."
                )
            limits[name] = outs - 1, ignored, ("an output for each class", has, fix)
        elif kind in ("binarycrossentropy", "bce", "binaryfocalcrossentropy"):
            of = f" of its output {name}" if several else ""
            fix = "Make the labels 0 and 1, or choose a loss that fits them."
            limits[name] = 1, ignored, ("a loss that fits the labels", f"a binary loss{of}", fix)
    return limits


def first_labels(part: Any, examples: int) -> Iterator[Any]:
    """Yield the labels of arrays, or of each of the first examples of a tf.data.Dataset."""
    if isinstance(part, tf.data.Dataset):
        yield from part.map(lambda _, labels: labels).take(examples).as_numpy_iterator()
    else:
        yield part[1]


def check_labels(model: tf.keras.Model, outputs: Any, examples: int = 256) -> None:
    """End if a label has no output in the model: a GPU would continue with a loss of NaN.

    Of a tf.data.Dataset, only the first examples are read.
    """
    limits, names = label_limits(model, outputs), names_of_outputs(model, outputs)
    for part in make_data() if limits else ():
        found = {name: list[Any]() for name in limits}
        for labels in first_labels(part, examples):
            for name, each in zip(names, by_output(labels, names)):
                array = np.asarray(each)
                if name in limits and array.dtype.kind in "biuf":
                    kept = array[array != limits[name][1]]
                    found[name] += [kept.min(), kept.max()] if kept.size else []
        for name, (highest, _, (needed, has, fix)) in limits.items():
            if found[name] and (min(found[name]) < 0 or max(found[name]) > highest):
                where = f" in the first {examples}" * isinstance(part, tf.data.Dataset)
                raise SystemExit(
                    f"Needs a model with {needed}; got {has}, and labels from {min(found[name])} "
                    f"to {max(found[name])}{where}. {fix}"
                )


def make_correct(model: tf.keras.Model) -> Callable:
    """Return a function of labels and outputs that counts right answers; NaN: unknown.

    The count is known if the loss is the cross-entropy of one output.
    """
    loss = "" if isinstance(model.loss, dict | list | tuple) else model.loss
    kind = loss if isinstance(loss, str) else getattr(loss, "__name__", type(loss).__name__)
    threshold = 0.0 if getattr(loss, "from_logits", False) else 0.5
    metrics = {
        "sparsecategorical": tf.keras.metrics.sparse_categorical_accuracy,
        "categorical": tf.keras.metrics.categorical_accuracy,
        "binary": lambda *given: tf.keras.metrics.binary_accuracy(*given, threshold=threshold),
    }
    kind = kind.lower().replace("_", "").partition("crossentropy")[0].removesuffix("focal")
    metric = metrics.get(kind)

    def correct(labels: tf.Tensor, outputs: tf.Tensor) -> tf.Tensor:
        if metric is None or not tf.is_tensor(outputs):
            return tf.constant(float("nan"), tf.keras.backend.floatx())
        right = tf.cast(metric(labels, outputs), tf.keras.backend.floatx())
        each = tf.reduce_mean(right, axis=list(range(1, right.shape.rank)))  # over a sequence
        return tf.reduce_sum(each)

    return correct


if __name__ == "__main__":
    os.environ.pop("TF_CONFIG", None)  # it names other tasks; this is one task
    run_and_leave(main)

# config: {"sha256": "385bbf72f3a5cfc0", "config": {"loop": "fit", "model":
#     "own_model.py:build_model", "devices": ["CPU:0"], "replicas": 2}}
