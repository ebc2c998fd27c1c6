"""CNN 32-64 on Fashion-MNIST: TPU strategy, 8 replicas, Custom loop."""

from collections.abc import Callable

import tensorflow as tf

SEED = 42  # decides data, first weights and order of examples
REPLICAS = 8  # cores
TPU = "my-tpu"  # local: this TPU VM; else the name of a Cloud TPU
AUTO_SHARD = tf.data.experimental.AutoShardPolicy.AUTO  # no effect in one process
READ_PER_STEP = 512  # examples read for a step
NUM_TRAIN_EXAMPLES = 60_000  # examples to train on
NUM_TEST_EXAMPLES = 10_000  # examples to test on
PER_REPLICA_BATCH_SIZE = 64  # examples that each replica takes in a step
GLOBAL_BATCH_SIZE = 512  # 64 x 8 replicas
EPOCHS = 5  # each followed by a test pass
STEPS_PER_EPOCH = 117  # 60,000 examples, 117 steps an epoch; 96 examples left out
TEST_BATCH_SIZE = 400  # examples of all replicas in a test step
TEST_STEPS = 25  # every test example once
LEARNING_RATE = 0.001  # independent of the number of replicas
ACCURACY = tf.keras.metrics.sparse_categorical_accuracy  # 1 or 0 for each example
STEPS_PER_STACK = 1  # batches in one element of the pipeline
STEPS_PER_CALL = None  # in a graph call; None: enough for 0.2 s
RUN_EAGERLY = False  # True: no graphs, for debugging
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")


def make_strategy() -> tf.distribute.Strategy:
    """Set up the TPU once; copy the model to each of its cores. Each step sums all gradients."""
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu=TPU)
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    strategy = tf.distribute.TPUStrategy(resolver)
    if strategy.num_replicas_in_sync != REPLICAS:
        raise SystemExit(
            f"Needs a TPU of {REPLICAS} cores; {TPU} has {strategy.num_replicas_in_sync}. Set "
            "REPLICAS to that number, and GLOBAL_BATCH_SIZE to REPLICAS x PER_REPLICA_BATCH_SIZE."
        )
    return strategy


def make_data() -> tuple[tuple, ...]:
    """Return (images, labels), 60,000 to train on and 10,000 to test on, scaled to [0, 1]."""
    parts = tf.keras.datasets.fashion_mnist.load_data()
    with tf.device("CPU"):  # not in a GPU's memory
        return tuple(
            (tf.reshape(images, [-1, 28, 28, 1]) / 255, labels) for images, labels in parts
        )


def make_batches(
    strategy: tf.distribute.Strategy, start_step: int
) -> tuple[tf.distribute.DistributedDataset, ...]:
    """Return the training batches from a step on, and the test batches.

    The strategy gives each worker its share of the training batches by the rule AUTO_SHARD. By
    the rule OFF the share is all batches, and a worker uses a batch for several steps.
    """
    examples, tests = make_data()
    examples = tf.nest.map_structure(tf.constant, examples)
    steps = GLOBAL_BATCH_SIZE // READ_PER_STEP

    def rows_of(step: tf.Tensor) -> tf.Tensor:
        first = step % STEPS_PER_EPOCH * READ_PER_STEP
        return shuffled_rows(step // STEPS_PER_EPOCH, first, READ_PER_STEP)

    def batch_from(step: tf.Tensor) -> tuple[tf.Tensor, ...]:
        rows = tf.concat([rows_of(step + ahead) for ahead in range(steps)], axis=0)
        return tf.nest.map_structure(lambda part: tf.gather(part, rows), examples)

    train = tf.data.Dataset.counter(start_step, steps).map(batch_from, tf.data.AUTOTUNE)
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = AUTO_SHARD
    train = train.with_options(options).prefetch(tf.data.AUTOTUNE)
    return (
        strategy.experimental_distribute_dataset(train),
        strategy.distribute_datasets_from_function(deal_tests(tests)),
    )


def make_optimizer() -> tf.keras.optimizers.Optimizer:
    """Return Adam with its other settings as published."""
    return tf.keras.optimizers.Adam(LEARNING_RATE)


def make_model() -> tf.keras.Model:
    """Return a model of 2 convolutions and 2 dense layers, with L2 on each kernel and logits."""
    options = {"kernel_regularizer": tf.keras.regularizers.L2(1e-5)}
    model = tf.keras.Sequential(
        [
            tf.keras.Input([28, 28, 1]),
            tf.keras.layers.Conv2D(32, 3, activation="relu", **options),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Conv2D(64, 3, activation="relu", **options),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(64, activation="relu", **options),
            tf.keras.layers.Dense(10, **options),
        ]
    )
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(make_optimizer(), loss=loss)
    return model


def make_steps(model: tf.keras.Model) -> tuple[Callable, Callable]:
    """Return two functions of a replica's part of a batch: one to train, one to test.

    Both return its sum of losses, its correct answers and its examples.
    """
    loss = tf.keras.losses.get(model.loss)
    example_losses = getattr(loss, "call", loss)

    def forward(batch: tuple[tf.Tensor, ...], training: bool) -> tuple[tf.Tensor, tf.Tensor]:
        features, labels = batch
        outputs = tf.cast(model(features, training=training), tf.keras.backend.floatx())
        losses = example_losses(labels, outputs) + sum(model.losses)  # each with all penalties
        correct = tf.reduce_sum(tf.cast(ACCURACY(labels, outputs), losses.dtype))
        examples = tf.cast(tf.size(losses), losses.dtype)
        return losses, tf.stack([tf.reduce_sum(losses), correct, examples])

    def train_step(batch: tuple[tf.Tensor, ...]) -> tf.Tensor:
        with tf.GradientTape() as tape:
            losses, row = forward(batch, training=True)
            # The gradients of all replicas are summed. So each replica divides the sum of its
            # losses by the size of the global batch.
            loss = tf.nn.compute_average_loss(losses, global_batch_size=GLOBAL_BATCH_SIZE)
            loss = model.optimizer.scale_loss(loss)  # scaled only in mixed_float16
        gradients = tape.gradient(loss, model.trainable_variables)
        model.optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return row

    return train_step, lambda batch: forward(batch, training=False)[1]


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
    """Train with a custom loop, from the first step or from the last checkpoint."""
    recorder = Recorder()
    strategy = make_strategy()
    tf.keras.utils.set_random_seed(SEED)
    tf.config.run_functions_eagerly(RUN_EAGERLY)
    with strategy.scope():
        model = make_model()
    recorder.restore(strategy, model)
    train_data, test_data = make_batches(strategy, recorder.step)
    train_data = iter(train_data)
    train_steps, test_steps = make_loops(strategy, *make_steps(model))
    for epoch in range(recorder.epoch, EPOCHS):
        recorder.train(train_steps, train_data, (epoch + 1) * STEPS_PER_EPOCH - recorder.step)
        recorder.test(test_steps, iter(test_data), TEST_STEPS)
    recorder.finish()


# The recorder of all scripts stands here.


# ---- Helpers of the functions at the top. ----
from collections.abc import Callable

import tensorflow as tf


def shuffled_rows(epoch: tf.Tensor, first: tf.Tensor, count: int) -> tf.Tensor:
    """Return the examples at `count` positions of an epoch. Only seed and epoch decide them."""
    positions = (first + tf.range(count, dtype=tf.int64)) % NUM_TRAIN_EXAMPLES
    seed = tf.stack([SEED, epoch])
    return tf.random.experimental.index_shuffle(positions, seed, NUM_TRAIN_EXAMPLES - 1)


def deal_tests(examples: tuple[tf.Tensor, ...]) -> Callable:
    """Return a function that makes a pipeline's test batches, with each example once.

    The replicas of all pipelines take a step's examples in turn, like dealt cards.
    """
    examples = tf.nest.map_structure(tf.constant, examples)

    def deal(context: tf.distribute.InputContext) -> tf.data.Dataset:
        replicas = context.num_replicas_in_sync
        local = replicas // context.num_input_pipelines

        def batch_at(number: tf.Tensor) -> tuple[tf.Tensor, ...]:
            first = number // local * TEST_BATCH_SIZE
            own = first + local * context.input_pipeline_id + number % local
            rows = tf.range(own, tf.minimum(first + TEST_BATCH_SIZE, NUM_TEST_EXAMPLES), replicas)
            if NUM_TEST_EXAMPLES % TEST_BATCH_SIZE == 0:
                rows = tf.ensure_shape(rows, [TEST_BATCH_SIZE // replicas])  # a TPU must know it
            return tf.nest.map_structure(lambda part: tf.gather(part, rows), examples)

        batches = tf.data.Dataset.range(TEST_STEPS * local)
        return batches.map(batch_at, tf.data.AUTOTUNE).prefetch(2 * local)

    return deal


if __name__ == "__main__":
    os.environ.pop("TF_CONFIG", None)  # it names other tasks; this is one task
    run_and_leave(main)

# config: {"sha256": "8e9c98216e55bc59", "config": {"strategy": "tpu", "data": "fashion_mnist",
#     "replicas": 8, "tpu": "my-tpu", "precision": "mixed_bfloat16"}, "tpu_chips": 8}
