"""What a model is compiled with: for `fit`, for tests beside training, and by XLA."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tensorflow as tf

if TYPE_CHECKING:
    from .constants import ACCURACY, STEPS_PER_EXECUTION
    from .slots import make_model


def compile_model__built_in(model: tf.keras.Model) -> None:
    """Choose what `fit` measures, and how many steps a call of its graph function does."""
    model.compile(model.optimizer, model.loss, metrics=[ACCURACY("accuracy")], jit_compile=False)
    model.steps_per_execution = STEPS_PER_EXECUTION


def compile_model__own(model: tf.keras.Model) -> None:
    """Choose how many steps `fit` does in a call; your function has compiled the rest."""
    model.steps_per_execution = STEPS_PER_EXECUTION
    model.jit_compile = False  # XLA cannot compile the sums over replicas on CPUs


def compile_model__led(model: tf.keras.Model) -> None:
    """Choose what `fit` measures, and how many steps a worker does in a call."""
    model.compile(
        model.optimizer,
        model.loss,
        metrics=["accuracy"],
        steps_per_execution=STEPS_PER_EXECUTION,
    )


def compile_model__led_own(model: tf.keras.Model) -> None:
    """Choose how many steps a worker does in a call; your function has compiled the rest."""
    model._configure_steps_per_execution(STEPS_PER_EXECUTION)  # not public outside of compile


def make_tester__built_in() -> tf.keras.Model:
    """Return a model of this process, which gets the weights of the trained one."""
    tester = make_model()
    tester.compile(tester.optimizer, tester.loss, metrics=["accuracy"])
    return tester


def make_tester__own() -> tf.keras.Model:
    """Return a model of this process, which gets the weights of the trained one."""
    return make_model()


def compile_by_xla__built_in(make_model: Callable) -> Callable:
    """Let XLA compile the model's forward pass, and with it its gradient.

    The sum of gradients and the update of the weights stay outside, because they wait for other
    replicas.
    """

    def make_compiled_model() -> tf.keras.Model:
        model = make_model()
        model.call = tf.function(model.call, jit_compile=True)
        return model

    return make_compiled_model


def compile_by_xla__own(make_model: Callable) -> Callable:
    """Let XLA compile the forward pass, the loss and the gradient in the model's `train_step`.

    The sum of gradients and the update of the weights stay outside, because they wait for other
    replicas.
    """

    def make_compiled_model() -> tf.keras.Model:
        model = make_model()
        mean_loss = model.metrics[0]  # in which Keras measures the loss

        @tf.function(jit_compile=True)
        def compute(features: Any, labels: Any, weights: Any) -> tuple:
            with tf.GradientTape() as tape:
                outputs = model(features, training=True)
                # As compiled: all losses with their weights, and penalties. Keras divides the mean
                # over the replica's examples by the replicas, because their gradients are summed.
                loss = model.compute_loss(features, labels, outputs, weights)
                scaled = model.optimizer.scale_loss(loss)  # scaled only in mixed_float16
            return loss, outputs, tape.gradient(scaled, model.trainable_variables)

        def train_step(batch: tuple[Any, ...]) -> dict[str, tf.Tensor]:
            features, labels, weights = tf.keras.utils.unpack_x_y_sample_weight(batch)
            loss, outputs, gradients = compute(features, labels, weights)
            model.optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            mean = loss * tf.distribute.get_strategy().num_replicas_in_sync
            examples = tf.shape(tf.nest.flatten(features)[0])[0]
            mean_loss.update_state(mean, sample_weight=examples)
            return model.compute_metrics(features, labels, outputs, weights)

        model.train_step = train_step
        return model

    return make_compiled_model
