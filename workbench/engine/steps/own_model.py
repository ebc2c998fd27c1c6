from collections.abc import Callable

import tensorflow as tf


def make_steps(model: tf.keras.Model) -> list[Callable]:
    """Return two functions of a replica's part of a batch: one to train, one to test."""
    return [model.train_step, model.test_step]
