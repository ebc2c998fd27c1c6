"""Builds a script's model and reports its parts: `inspect_model SCRIPT`.

Runs in the run's interpreter, from which the GPUs are hidden. Prints one line of JSON. The model's
own output goes to the standard error.
"""

import pathlib
import sys

import numpy as np
import tensorflow as tf

from .asker import reply


def size_bytes(variables: list) -> int:
    """Return the bytes of all variables together."""
    return sum(int(np.prod(v.shape)) * tf.as_dtype(v.dtype).size for v in variables)


def output_shape(layer: tf.keras.layers.Layer) -> str:
    """Return the shape of a layer's output without the batch, as text; empty if not known."""
    shape = getattr(getattr(layer, "output", None), "shape", None)
    return "" if shape is None else str(tuple(shape)[1:])


def describe(model: tf.keras.Model) -> dict:
    """Return layers, parameters and bytes."""
    model.optimizer.build(model.trainable_variables)
    layers = [
        [layer.name, type(layer).__name__, output_shape(layer), layer.count_params()]
        for layer in model.layers
    ]
    return {
        "layers": layers,
        "parameters": model.count_params(),
        "trainable_parameters": sum(int(np.prod(v.shape)) for v in model.trainable_variables),
        "weight_bytes": size_bytes(model.variables),
        "optimizer_bytes": size_bytes(model.optimizer.variables),
        "gradient_bytes_per_step": size_bytes(model.trainable_variables),
    }


def main(path: pathlib.Path) -> None:
    """Build the model and print its description."""
    script: dict = {"__name__": "train", "__file__": str(path)}
    exec(compile(path.read_text(), str(path), "exec"), script)
    reply(describe(script["make_model"]()))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
