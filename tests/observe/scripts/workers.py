"""A custom loop of several workers, which knows of no observer: `workers.py FOLDER`.

It goes on from the checkpoints of the first worker. Each worker keeps the time when it leaves in
FOLDER/left-NUMBER.
"""

import atexit
import pathlib
import sys
import time

import numpy as np
import tensorflow as tf

FOLDER, STEPS = sys.argv[1], 18

strategy = tf.distribute.MultiWorkerMirroredStrategy()
worker = strategy.cluster_resolver.task_id
left = pathlib.Path(FOLDER, f"left-{worker}")
atexit.register(lambda: left.write_text(repr(time.time())))
tf.keras.utils.set_random_seed(1)
random = np.random.default_rng(1)
features = random.standard_normal((96, 3), np.float32)
labels = features @ np.ones([3, 1], np.float32)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.Adam(0.1)
    optimizer.build(model.trainable_variables)
checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
own = "saved" if worker == 0 else f"thrown-away-{worker}"
manager = tf.train.CheckpointManager(checkpoint, f"{FOLDER}/{own}", max_to_keep=2)
checkpoint.restore(tf.train.latest_checkpoint(f"{FOLDER}/saved"))
first = int(optimizer.iterations.numpy())
data = tf.data.Dataset.from_tensor_slices((features, labels)).batch(16)
train_batches = iter(strategy.experimental_distribute_dataset(data.repeat().skip(first)))
test_batches = strategy.experimental_distribute_dataset(data.take(2))


def train_step(batch):
    with tf.GradientTape() as tape:
        losses = tf.keras.losses.mse(batch[1], model(batch[0], training=True))
        loss = tf.nn.compute_average_loss(losses, global_batch_size=16)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return tf.reduce_mean(losses)


def test_step(batch):
    return tf.reduce_mean(tf.keras.losses.mse(batch[1], model(batch[0])))


@tf.function
def train(iterator):
    strategy.run(train_step, args=(next(iterator),))


@tf.function
def test(iterator):
    strategy.run(test_step, args=(next(iterator),))


for step in range(first, STEPS):
    train(train_batches)
    if (step + 1) % 6 == 0:
        iterator = iter(test_batches)
        for _ in range(2):
            test(iterator)
        manager.save()
