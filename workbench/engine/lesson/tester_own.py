from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..models.mlp import make_model


def make_tester() -> tf.keras.Model:
    """Return a model for tests in this process, which gets the weights of the trained one."""
    return make_model()
