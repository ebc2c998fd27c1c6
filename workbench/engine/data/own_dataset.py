from collections.abc import Callable
from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from ..constants import NUM_TEST_EXAMPLES, NUM_TRAIN_EXAMPLES, SEED


def check_data(function: Callable) -> tuple[tf.data.Dataset, tf.data.Dataset]:
    """Return the data of the user's function: examples to train on and to test on."""
    tf.keras.utils.set_random_seed(SEED)  # the same order of examples whenever it is called
    train, test = function()
    for dataset, examples in ((train, NUM_TRAIN_EXAMPLES), (test, NUM_TEST_EXAMPLES)):
        known = tf.get_static_value(dataset.cardinality())  # below 0: unknown or endless
        if known is not None and 0 <= known != examples:
            raise SystemExit(
                f"Needs a dataset of {examples} examples; {function.__name__} gave one of {known}. "
                "Set the number of examples and the steps of an epoch at the top."
            )
    return train, test
