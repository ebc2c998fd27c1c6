"""Builds a plan's model and reports its parts: `inspect_model FILE [FUNCTION]`.

FILE defines `make_data`, `make_model` and, unless the model keeps the optimizer it is compiled
with, `OPTIMIZER` and `LEARNING_RATE`. FUNCTION is the name of the user's function that returns the
model, which is then checked.

Runs in the run's interpreter, from which the GPUs are hidden. Prints one line of JSON. The model's
own output goes to the standard error.
"""

import pathlib
import sys

import numpy as np
import tensorflow as tf

from .asker import reply
from .check_model import check_kind, check_model


def size_bytes(variables: list) -> int:
    """Return the bytes of all variables together."""
    return sum(int(np.prod(v.shape)) * tf.as_dtype(v.dtype).size for v in variables)


def output_shape(layer: tf.keras.layers.Layer) -> str:
    """Return the shape of a layer's output without the batch, as text; empty if not known."""
    shape = getattr(getattr(layer, "output", None), "shape", None)
    return "" if shape is None else str(tuple(shape)[1:])


def describe(model: tf.keras.Model) -> dict:
    """Return layers, parameters and bytes, and whether the model has a train_step of its own."""
    model.optimizer.build(model.trainable_variables)
    layers = [
        [layer.name, type(layer).__name__, output_shape(layer), layer.count_params()]
        for layer in model.layers
    ]
    return {
        "layers": layers,
        "parameters": sum(int(np.prod(v.shape)) for v in model.weights),
        "trainable_parameters": sum(int(np.prod(v.shape)) for v in model.trainable_variables),
        "weight_bytes": size_bytes(model.variables),
        "optimizer_bytes": size_bytes(model.optimizer.variables),
        "gradient_bytes_per_step": size_bytes(model.trainable_variables),
        "own_train_step": type(model).train_step is not tf.keras.Model.train_step,
    }


def own_model(file: dict, function: str) -> tf.keras.Model:
    """Return the model of the user's function, checked, with the optimizer of the plan."""
    model = file["make_model"]()
    check_kind(model, function)
    check_model(model, function, file["make_data"]())
    if "OPTIMIZER" in file:
        model.optimizer = file["OPTIMIZER"](file["LEARNING_RATE"])
    return model


def main(path: pathlib.Path, function: str = "") -> None:
    """Build the model and print its description."""
    file: dict = {"__name__": "train", "__file__": str(path)}
    exec(compile(path.read_text(), str(path), "exec"), file)
    reply(describe(own_model(file, function) if function else file["make_model"]()))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), *sys.argv[2:])
