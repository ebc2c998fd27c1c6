"""Keep examples of several shapes and types as an evaluation does: `keep_images.py OUT`.

Writes OUT/NAME.npz for each case.
"""

import sys
from pathlib import Path

import numpy as np
import tensorflow as tf

from workbench.engine.programs.evaluate import keep_samples

EXAMPLES = 8


def examples_of(shape: tuple[int, ...], kind: str) -> tf.Tensor:
    """Return examples of a shape whose numbers rise from 0, in the first column."""
    numbers = np.zeros((EXAMPLES, *shape))
    numbers[:, :, 0] = np.arange(shape[0]).reshape([-1] + [1] * (len(shape) - 2))
    return tf.constant(numbers.astype(kind))


CASES = {
    "grey": ((12, 16), "uint8"),
    "one_channel": ((12, 16, 1), "float32"),
    "rgb": ((12, 16, 3), "uint8"),
    "rgb_floats": ((12, 16, 3), "float64"),
    "rgba": ((12, 16, 4), "float32"),
    "bool": ((12, 16), "bool"),
    "large": ((300, 20, 3), "float32"),
    "two_channels": ((12, 16, 2), "float32"),
}


def main() -> None:
    """Keep the examples of each case."""
    folder, truth = Path(sys.argv[1]), np.arange(EXAMPLES) % 2
    features = {name: examples_of(*case) for name, case in CASES.items()}
    features["row"] = tf.zeros([EXAMPLES, 16])
    features["words"] = tf.constant(np.full((EXAMPLES, 2, 2), "word"))
    features["named"] = {"age": tf.zeros([EXAMPLES]), "photo": features["rgb"]}
    for name, each in features.items():
        batches = list(tf.data.Dataset.from_tensor_slices((each, truth, truth)).batch(5))
        keep_samples(folder / f"{name}.npz", batches, truth, truth, np.ones(EXAMPLES))


if __name__ == "__main__":
    main()
