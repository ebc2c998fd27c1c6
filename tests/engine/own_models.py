"""Models of a user: correct ones, and ones with common mistakes."""

import resource
import sys

import tensorflow as tf


def network(kind=tf.keras.Model, width=8, **options):
    inputs = tf.keras.Input([10])
    hidden = tf.keras.layers.Dense(width, activation="relu", **options)(inputs)
    return kind(inputs, tf.keras.layers.Dense(1, activation="sigmoid")(hidden))


def plain() -> tf.keras.Model:
    model = network()
    model.compile(loss="binary_crossentropy")
    return model


def dropping() -> tf.keras.Model:
    inputs = tf.keras.Input([10])
    hidden = tf.keras.layers.Dropout(0.5)(tf.keras.layers.Dense(8, activation="relu")(inputs))
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(1, activation="sigmoid")(hidden))
    model.compile(loss="binary_crossentropy")
    return model


def dropping_deeper() -> tf.keras.Model:
    model = dropping()
    model = tf.keras.Model(model.inputs, tf.keras.layers.Dense(1)(model.output))
    model.compile(loss="mse")
    return model


class Doubled(tf.keras.Model):
    """A model whose train_step doubles the loss; the train_step of Keras does not."""

    def train_step(self, data):
        features, labels = data
        with tf.GradientTape() as tape:
            outputs = self(features, training=True)
            loss = 2 * self.compute_loss(x=features, y=labels, y_pred=outputs)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
        return {"loss": loss}


def doubled() -> tf.keras.Model:
    model = network(Doubled)
    model.compile(loss=tf.keras.losses.BinaryCrossentropy())
    return model


class Weighed(tf.keras.Model):
    """A model whose compute_loss returns three times the compiled loss."""

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        return 3 * super().compute_loss(x, y, y_pred, sample_weight, training)


def weighed() -> tf.keras.Model:
    model = network(Weighed)
    model.compile(loss="binary_crossentropy")
    return model


class Secret(tf.keras.Model):
    """A model whose train_step has a loss of its own, which it only returns."""

    def train_step(self, data):
        features, labels = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(labels - self(features, training=True)))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
        return {"loss": loss}


def secret() -> tf.keras.Model:
    model = network(Secret)
    model.compile(loss="mse")
    return model


def regularized() -> tf.keras.Model:
    model = network(kernel_regularizer="l2")
    model.compile(loss="binary_crossentropy", metrics=["accuracy"])
    return model


def normalized() -> tf.keras.Model:
    layers = tf.keras.layers
    sizes = [layers.Dense(8), layers.BatchNormalization(), layers.Dropout(0.5)]
    model = tf.keras.Sequential(
        [tf.keras.Input([10]), *sizes, layers.Dense(1, activation="sigmoid")]
    )
    model.compile(loss="binary_crossentropy")
    return model


def explosive() -> tf.keras.Model:
    """Return a model whose loss is NaN on the second replica from the first step."""

    class Burst(tf.keras.layers.Layer):
        def call(self, inputs):
            context = tf.distribute.get_replica_context()  # None while Keras infers shapes
            replica = 0 if context is None else context.replica_id_in_sync_group
            return tf.where(tf.equal(replica, 1), inputs * float("nan"), inputs)

    inputs = tf.keras.Input([10])
    outputs = tf.keras.layers.Dense(1, activation="sigmoid")(inputs)
    model = tf.keras.Model(inputs, Burst()(outputs))
    model.compile(loss="binary_crossentropy")
    return model


def unbounded() -> tf.keras.Model:
    """Return a model whose loss grows with its weights until no float can hold it."""
    model = tf.keras.Sequential([tf.keras.Input([10]), tf.keras.layers.Dense(1)])
    model.compile(loss="mse")
    return model


def burning() -> tf.keras.Model:
    """Return a model whose weights are not finite after one step of a large learning rate."""
    model = tf.keras.Sequential([tf.keras.Input([10]), tf.keras.layers.Dense(1)])
    model.compile(loss="mse", loss_weights=1e6)
    return model


def broad() -> tf.keras.Model:
    """Return a model whose weights take 1 MiB."""
    model = network(width=22_000)
    model.compile(loss="binary_crossentropy")
    return model


def wide() -> tf.keras.Model:
    model = network(width=512)
    model.compile(loss="binary_crossentropy")
    return model


def on_a_full_disk() -> tf.keras.Model:
    """Limit every file to 16 KiB and return a wide model."""
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16 * 1024, most))
    return wide()


def twice_weighed() -> tf.keras.Model:
    model = network()
    model.compile(loss="binary_crossentropy", loss_weights=2.0)
    return model


class Embedded(tf.keras.Model):
    """A model whose gradients are rows of an embedding; a weight that it does not use has none."""

    def __init__(self):
        super().__init__()
        self.signs = tf.keras.layers.Embedding(2, 4)
        self.head = tf.keras.layers.Dense(1, activation="sigmoid")
        self.unused = self.add_weight(shape=(3,), name="unused")

    def call(self, features):
        return self.head(tf.reduce_mean(self.signs(tf.cast(features > 0, tf.int32)), axis=1))


def embedded() -> tf.keras.Model:
    model = Embedded()
    model.compile(loss="binary_crossentropy")
    return model


def summed_loss() -> tf.keras.Model:
    model = network()
    model.compile(loss=tf.keras.losses.BinaryCrossentropy(reduction="sum", name="in_all"))
    return model


def one_number(labels, outputs):
    return tf.reduce_mean(tf.square(labels - outputs))


def scalar_loss() -> tf.keras.Model:
    model = network()
    model.compile(loss=one_number)
    return model


class Called(tf.keras.losses.Loss):
    def __call__(self, labels, outputs, sample_weight=None):
        return tf.reduce_mean(tf.square(labels - outputs))


def called_loss() -> tf.keras.Model:
    model = network()
    model.compile(loss=Called())
    return model


def frozen() -> tf.keras.Model:
    model = network()
    model.trainable = False
    model.compile(loss="binary_crossentropy")
    return model


def noisy() -> tf.keras.Model:
    """Print bytes that are no text and a line without an end, and return a plain model."""
    sys.stdout.buffer.write(b"\xff{\n")
    sys.stdout.write("half a line")
    sys.stderr.buffer.write(b"\xfe")
    return plain()


def leaving() -> tf.keras.Model:
    sys.exit()


def nothing():
    network()


def not_a_model():
    return [network()]


def not_compiled():
    return network()


def built_late():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, activation="sigmoid")])
    model.compile(loss="binary_crossentropy")
    return model


def wrong_shape():
    model = tf.keras.Sequential([tf.keras.Input([7]), tf.keras.layers.Dense(1)])
    model.compile(loss="binary_crossentropy")
    return model


def raising():
    raise ValueError("no such width: -1")


def importing():
    import no_such_package

    return no_such_package.build()


def downloading():
    tf.keras.utils.get_file("weights.h5", "http://127.0.0.1:9/weights.h5")


def asking(width):
    return network(width=width)
