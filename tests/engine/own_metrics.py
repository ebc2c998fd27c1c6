"""A model of two outputs with its own metrics, and a step that returns no outputs."""

import numpy as np

TRAIN, TEST = 360, 100


def load_data():
    random = np.random.default_rng(0)
    features = random.normal(size=(TRAIN + TEST, 6))
    noisy = features.sum(axis=1) + random.normal(size=TRAIN + TEST)
    labels = {"kind": (noisy > 0).astype(float), "size": 2 * features[:, :1]}
    parts = (slice(TRAIN), slice(TRAIN, None))
    return tuple((features[part], {name: labels[name][part] for name in labels}) for part in parts)


def two_outputs():
    import tensorflow as tf

    inputs = tf.keras.Input([6])
    outputs = {
        "kind": tf.keras.layers.Dense(1, "sigmoid", name="kind")(inputs),
        "size": tf.keras.layers.Dense(1, name="size")(inputs),
    }
    model = tf.keras.Model(inputs, outputs)
    metrics = {"kind": ["accuracy", tf.keras.metrics.AUC(name="auc")], "size": ["mae"]}
    losses = {"kind": "binary_crossentropy", "size": "mse"}
    model.compile(tf.keras.optimizers.SGD(0.1), loss=losses, metrics=metrics)
    return model


def load_many_tests():
    train, (features, labels) = load_data()
    return train, (
        np.tile(features, [200, 1]),
        {name: np.tile(each, [200] + [1] * (each.ndim - 1)) for name, each in labels.items()},
    )


def odd():
    """Return a model with metrics of every kind: one in two lists, one without a number, one of
    numbers in a dict, and one that receives every example and counts none.
    """
    import tensorflow as tf

    class Spread(tf.keras.metrics.Mean):
        def update_state(self, labels, outputs, sample_weight=None):
            super().update_state(outputs)

        def result(self):
            mean = super().result()
            return {"mean": mean, "by_sign": {"above": tf.nn.relu(mean), "sign": None}}

    class Twice(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = tf.keras.layers.Dense(1, "sigmoid")
            self.outputs_mean = tf.keras.metrics.Mean("outputs_mean")

        def call(self, features):
            return self.dense(features)

        def test_step(self, batch):
            self.outputs_mean.update_state(1.0)
            return super().test_step(batch)

        def train_step(self, batch):
            self.outputs_mean.update_state(1.0)
            return super().train_step(batch)

        @property
        def metrics(self):
            return [*super().metrics, self.outputs_mean]

    model = Twice()
    none = tf.keras.metrics.TruePositives(thresholds=1.0, name="none")
    model.compile("sgd", loss="mse", metrics=[none, Spread("spread")])
    return model


def hits():
    """Return a model that alone counts right answers: its loss does not define them."""
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.Input([6]), tf.keras.layers.Dense(1, "sigmoid")])
    model.compile("sgd", loss="mse", metrics=["binary_accuracy", "accuracy"])
    return model


def load_kinds():
    return tuple((features, labels["kind"]) for features, labels in load_data())


def silent_step(model, features, labels):
    import tensorflow as tf

    with tf.GradientTape() as tape:
        outputs = model(features, training=True)
        loss = tf.reduce_mean(tf.square(labels[:, None] - outputs))
    gradients = tape.gradient(loss, model.trainable_variables)
    model.optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return loss
