"""Compute the noise scale of runs by brute force: `true_noise.py SAMPLE RUN_DIR...`.

Takes the gradient of every training example alone at the newest checkpoint, without a strategy. The
variance is over SAMPLE examples, the mean over all. Prints one line of JSON for each run.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from tests.engine.together import load

CHUNK = 64


def restore_model(script: Any, folder: Path) -> tf.keras.Model:
    """Return the model with the weights of the newest checkpoint."""
    tf.keras.utils.set_random_seed(script.SEED)
    model = script.make_model()
    model.optimizer.build(model.trainable_variables)
    newest = tf.train.latest_checkpoint(str(folder / "checkpoints"))
    tf.train.Checkpoint(model=model).restore(newest).expect_partial()
    return model


def main(sample: int, folder: Path) -> None:
    script = load(folder / "train.py")
    model = restore_model(script, folder)
    features, labels = (np.asarray(part) for part in script.make_data()[0])

    def gradient_of(example: tuple[tf.Tensor, tf.Tensor]) -> tf.Tensor:
        batch, label = example[0][None], example[1][None]
        with tf.GradientTape() as tape:
            loss = model.compute_loss(batch, label, model(batch, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        return tf.cast(tf.concat([tf.reshape(part, [-1]) for part in gradients], 0), tf.float64)

    @tf.function
    def sums_of_gradients(part: tuple[tf.Tensor, tf.Tensor]) -> tuple[tf.Tensor, tf.Tensor]:
        each = tf.vectorized_map(gradient_of, part)
        return tf.reduce_sum(each**2), tf.reduce_sum(each, 0)

    @tf.function
    def sum_of_gradients(part: tuple[tf.Tensor, tf.Tensor]) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = model.compute_loss(*part, model(part[0], training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        size = tf.cast(tf.shape(part[0])[0], tf.float64)
        return size * tf.cast(tf.concat([tf.reshape(p, [-1]) for p in gradients], 0), tf.float64)

    count, size = len(features), min(sample, len(features))
    picked = np.random.default_rng(0).permutation(count)[:size]
    chosen = tf.data.Dataset.from_tensor_slices((features[picked], labels[picked])).batch(CHUNK)
    norms, sums = (
        sum(parts) for parts in zip(*(sums_of_gradients(part) for part in chosen), strict=True)
    )
    every = tf.data.Dataset.from_tensor_slices((features, labels)).batch(512)
    mean = sum(sum_of_gradients(part) for part in every).numpy() / count
    noise = (float(norms) - float(tf.reduce_sum(sums**2)) / size) / (size - 1)
    signal = float(mean @ mean) - noise / count
    found = {"noise": noise, "squared_gradient": signal, "examples": noise / signal}
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    for name in sys.argv[2:]:
        main(int(sys.argv[1]), Path(name))
