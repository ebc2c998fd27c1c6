"""A plain script of a coordinator: `scheduled.py FOLDER`; TF_CONFIG names its tasks.

It goes on from what it has saved. It keeps in losses.json what its calls returned: the loss of each
step.
"""

import json
import pathlib
import sys

import numpy as np
import tensorflow as tf

FOLDER = pathlib.Path(sys.argv[1])
CALLS, STEPS = 6, 3

task = tf.distribute.cluster_resolver.TFConfigClusterResolver()
if task.task_type in ("worker", "ps"):
    tf.distribute.Server(task.cluster_spec(), task.task_type, task.task_id, protocol="grpc").join()
strategy = tf.distribute.ParameterServerStrategy(task)
coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input([4]), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.1)
    optimizer.build(model.trainable_variables)
checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
checkpoint.restore(tf.train.latest_checkpoint(FOLDER / "saved"))


def make_dataset() -> tf.data.Dataset:
    features = np.random.default_rng(1).standard_normal((64, 4), np.float32)
    examples = features, features.sum(1, keepdims=True)
    return tf.data.Dataset.from_tensor_slices(examples).repeat().batch(8)


def step(batch: tuple) -> dict[str, tf.Tensor]:
    features, targets = batch
    with tf.GradientTape() as tape:
        losses = (model(features, training=True) - targets) ** 2
        loss = tf.reduce_mean(losses)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return {"loss": loss, "largest": tf.reduce_max(losses)}


def look(batch: tuple) -> dict[str, tf.Tensor]:
    return {"mean": tf.reduce_mean(batch[1])}


@tf.function
def train(iterator) -> tf.Tensor:
    losses = tf.TensorArray(tf.float32, size=STEPS)
    for number in tf.range(STEPS):
        results = strategy.run(step, args=(next(iterator),))
        losses = losses.write(number, results["loss"])
        strategy.run(look, args=(next(iterator),))
    return losses.stack()


iterator = iter(coordinator.create_per_worker_dataset(make_dataset))
results = [coordinator.schedule(train, args=(iterator,)) for _ in range(CALLS)]
coordinator.join()
losses = [float(loss) for result in results for loss in result.fetch()]
(FOLDER / "losses.json").write_text(json.dumps(losses))
checkpoint.save(FOLDER / "saved" / "ckpt")
