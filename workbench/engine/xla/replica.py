import functools
from collections.abc import Callable
from typing import Any

import tensorflow as tf


def compile_by_xla(make_steps: Callable) -> Callable:
    """Let XLA compile what a replica computes by itself: forward pass, loss, gradient, test.

    The sum of gradients and the update of the weights stay outside, because they wait for other
    replicas. A train_step of the model's own is compiled whole, because only it knows what it does
    after its update.
    """

    @functools.wraps(make_steps)
    def make_compiled_steps(model: tf.keras.Model) -> list[Callable]:
        train_step, test_step = make_steps(model)

        @tf.function(jit_compile=True)
        def compute(batch: tuple[Any, ...]) -> tuple[tf.Tensor, list[tf.Tensor]]:
            pairs: list[tuple[tf.Tensor, Any]] = []
            apply_gradients = model.optimizer.apply_gradients
            model.optimizer.apply_gradients = pairs.extend  # the step's last action; train does it
            row = train_step(batch)
            model.optimizer.apply_gradients = apply_gradients
            return row, [gradient for gradient, _ in pairs]

        def train(batch: tuple[Any, ...]) -> tf.Tensor:
            row, gradients = compute(batch)
            model.optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            return row

        def whole(step: Callable) -> Callable:
            compiled = tf.function(step, jit_compile=True)

            def run(batch: tuple[Any, ...]) -> tf.Tensor:
                return compiled(batch)  # strategy.run(compiled) would compile all replicas

            return run

        own = type(model).train_step is not tf.keras.Model.train_step
        return [whole(train_step) if own else train, whole(test_step)]

    return make_compiled_steps
