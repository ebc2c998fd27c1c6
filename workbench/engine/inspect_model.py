"""Builds a script's model and tells what it is made of: `python inspect_model.py SCRIPT`.

Runs in the run's interpreter on the CPU; prints one line of JSON.
"""

import json
import os
import pathlib
import sys

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

import numpy as np
import tensorflow as tf


def size_bytes(variables: list) -> int:
    """Return the bytes of all variables together."""
    return sum(int(np.prod(v.shape)) * tf.as_dtype(v.dtype).size for v in variables)


def output_shape(layer: tf.keras.layers.Layer) -> str:
    """Return the shape of a layer's output without the batch, as text; empty if not known."""
    shape = getattr(getattr(layer, "output", None), "shape", None)
    return "" if shape is None else str(tuple(shape)[1:])


def describe(model: tf.keras.Model, optimizer: tf.keras.optimizers.Optimizer) -> dict:
    """Return layers, parameters and bytes."""
    optimizer.build(model.trainable_variables)
    layers = [
        [layer.name, type(layer).__name__, output_shape(layer), layer.count_params()]
        for layer in model.layers
    ]
    return {
        "layers": layers,
        "parameters": model.count_params(),
        "trainable_parameters": sum(int(np.prod(v.shape)) for v in model.trainable_variables),
        "weight_bytes": size_bytes(model.variables),
        "optimizer_bytes": size_bytes(optimizer.variables),
        "gradient_bytes_per_step": size_bytes(model.trainable_variables),
    }


def check(model: object, address: str) -> tf.keras.Model:
    """Return the model, or end with what is wrong with what the function returned."""
    kinds = {(kind.__module__.split(".")[0], kind.__name__) for kind in type(model).__mro__}
    if not isinstance(model, tf.keras.Model) and ("keras", "Model") in kinds:
        raise SystemExit(
            f"A model's function returns a tf.keras.Model; {address} returned a model of Keras 3, "
            "which tf.keras is not here. Import keras through tf.keras."
        )
    if not isinstance(model, tf.keras.Model):
        raise SystemExit(
            f"A model's function returns a tf.keras.Model; {address} returned "
            f"{type(model).__name__}. Return the model."
        )
    if not model.built:
        raise SystemExit(
            f"A model is built before training; {address} returned one without weights. "
            "Give it a tf.keras.Input, or call model.build(input_shape)."
        )
    if not getattr(model, "loss", None):
        raise SystemExit(
            f"A model is compiled with its loss; {address} returned one without. "
            "Call model.compile(loss=...) before returning it."
        )
    return model


def main(path: pathlib.Path, address: str) -> None:
    """Build and print."""
    script: dict = {"__name__": "train", "__file__": str(path)}
    exec(compile(path.read_text(), str(path), "exec"), script)
    model = check(script["make_model"](), address)
    print(json.dumps(describe(model, script["make_optimizer"]())))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2])
