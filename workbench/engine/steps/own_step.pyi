"""The function by which a loop calls the user's step, for the type checker."""

from typing import Any

import tensorflow as tf

def train_step(model: tf.keras.Model, features: Any, labels: Any) -> tuple[tf.Tensor, Any]:
    """Train on a replica's part of a batch; return its losses and outputs."""
