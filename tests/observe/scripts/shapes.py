"""Training in shapes that no lesson has: `shapes.py FOLDER SHAPE`.

It keeps what its steps return in FOLDER/returned.npy, to compare that with what is recorded.
"""

import sys
import threading
import time

import numpy as np
import tensorflow as tf

FOLDER, SHAPE = sys.argv[1:]
STEPS, BATCH = 6, 4
strategy = tf.distribute.get_strategy()
tf.keras.utils.set_random_seed(1)
features = np.random.default_rng(1).standard_normal((STEPS * BATCH, 3), np.float32)
labels = features @ np.ones([3, 1], np.float32)
batches = tf.data.Dataset.from_tensor_slices((features, labels)).batch(BATCH)
model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.1)
optimizer.build(model.trainable_variables)


def train_step(batch):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.keras.losses.mse(batch[1], model(batch[0], training=True)))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return loss


def gradients_of(batch):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.keras.losses.mse(batch[1], model(batch[0], training=True)))
    return loss, tape.gradient(loss, model.trainable_variables)


@tf.function
def by_hand(batch):
    def step(batch):
        loss, gradients = gradients_of(batch)
        for weight, gradient in zip(model.trainable_variables, gradients, strict=True):
            weight.assign_sub(0.1 * gradient)
        return loss

    return strategy.run(step, args=(batch,))


@tf.function
def accumulate(batch):
    def step(batch):
        loss, gradients = gradients_of(batch)
        for total, gradient in zip(totals, gradients, strict=True):
            total.assign_add(gradient / 2)
        return loss

    return strategy.run(step, args=(batch,))


@tf.function
def apply_totals():
    def step():
        optimizer.apply_gradients(zip(totals, model.trainable_variables, strict=True))
        for total in totals:
            total.assign(tf.zeros_like(total))

    strategy.run(step)


def accumulated():
    losses = []
    for batch in batches:
        losses.append(accumulate(batch))
        if len(losses) % 2 == 0:
            apply_totals()
    return losses


def slow_step(batch):
    time.sleep(0.05)
    return train_step(batch)


def two_losses(batch):
    loss = train_step(batch)
    return loss, 2 * loss


class Trainer(tf.Module):
    @tf.function(jit_compile=True)
    def train(self, batch, *, step=train_step):
        return strategy.run(step, args=(batch,))


@tf.function(jit_compile=True)
def compiled_loop(batch):
    loss = tf.constant(0.0)
    for _ in tf.range(STEPS):
        loss = strategy.run(train_step, args=(batch,))
    return loss


@tf.function
def whole_epoch(iterator):
    for _ in tf.range(2 * STEPS):
        strategy.run(train_step, args=(next(iterator),))


def named_step(name):
    return lambda batch: {name: train_step(batch)}


@tf.function
def in_turn(batch):
    until = tf.timestamp() + 3  # so that the call is recorded in several parts
    while tf.timestamp() < until:
        strategy.run(named_step("discriminator"), args=(batch,))
        strategy.run(named_step("generator"), args=(batch,))


@tf.function
def plain(batch):
    return strategy.run(train_step, args=(batch,))


def fit():
    model.compile(optimizer, loss="mse", jit_compile=True)
    history = model.fit(batches.take(1), epochs=STEPS, verbose=0)
    return history.history["loss"]


def until_the_data_ends():
    expected = [float(train_step(batch)) for batch in batches]
    model.set_weights(weights)
    try:
        whole_epoch(iter(batches))
    except tf.errors.OutOfRangeError:
        return expected


def in_a_thread():
    losses = []
    thread = threading.Thread(target=lambda: losses.extend(map(plain, batches)))
    thread.start()
    thread.join()
    return losses


def with_the_best_weights():
    """Keep the weights of the first step as the best ones, and a checkpoint to go on from."""
    best = tf.train.CheckpointManager(tf.train.Checkpoint(model=model), f"{FOLDER}/best", 1)
    every = tf.train.Checkpoint(model=model, optimizer=optimizer)
    every.restore(tf.train.CheckpointManager(every, f"{FOLDER}/saved", 2).latest_checkpoint)
    losses = []
    for batch in batches:
        losses.append(plain(batch))
        if len(losses) == 1:
            best.save()
    return losses


weights = model.get_weights()
totals = [tf.Variable(tf.zeros_like(weight), trainable=False) for weight in weights]
shapes = {
    "compiled": lambda: list(map(Trainer().train, batches)),
    "compiled fit": fit,
    "compiled loop": lambda: compiled_loop(next(iter(batches))),
    "without an optimizer": lambda: list(map(by_hand, batches)),
    "with summed gradients": accumulated,
    "eager": lambda: [strategy.run(slow_step, args=(batch,)) for batch in batches],
    "two losses": lambda: [strategy.run(two_losses, args=(batch,)) for batch in batches],
    "until the data ends": until_the_data_ends,
    "in a thread": in_a_thread,
    "in turn": lambda: in_turn(next(iter(batches))) or [],
    "with the best weights": with_the_best_weights,
}
np.save(f"{FOLDER}/returned.npy", np.array(shapes[SHAPE](), np.float32))
