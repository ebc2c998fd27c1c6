"""Write the first state of runs to begin.npz beside their records: `begin_runs.py DIR...`.

The first weights and the examples come from the script of the run. The order of the examples comes
from TensorFlow itself, by seed and epoch.
"""

import sys
from pathlib import Path

import numpy as np
import tensorflow as tf

from tests.engine.together import load


def main(folder: Path) -> None:
    script = load(folder / "train.py")
    tf.keras.utils.set_random_seed(script.SEED)
    values = script.make_model().get_weights()
    weights = {f"weight_{index}": value for index, value in enumerate(values)}
    (features, labels), _ = script.make_data()
    orders = [order(script, epoch) for epoch in range(script.EPOCHS)]
    np.savez(folder / "begin.npz", features=features, labels=labels, orders=orders, **weights)


def order(script: object, epoch: int) -> list[int]:
    count = script.NUM_TRAIN_EXAMPLES  # type: ignore[attr-defined]
    seed = tf.constant([script.SEED, epoch], tf.int64)  # type: ignore[attr-defined]
    shuffle = tf.random.experimental.index_shuffle
    return [int(shuffle(tf.constant(n, tf.int64), seed, count - 1)) for n in range(count)]


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        main(Path(argument))
