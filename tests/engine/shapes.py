"""The names of the shapes in `own_shapes.py`, for files that must not import TensorFlow."""

DATA = {
    "functional": "numbers",
    "subclassed": "numbers",
    "several_inputs": "two_inputs",
    "embedding": "tokens",
    "recurrent": "tokens",
    "batch_normalization": "images",
    "synchronized_batch_normalization": "images",
    "dropout": "numbers",
    "mixed_precision": "numbers",
    "custom_train_step": "numbers",
    "tied_weights": "numbers",
}
"""The data of each model."""
RANDOM = ("batch_normalization", "dropout", "mixed_precision")
"""Shapes whose replicas differ from one device by design, or by rounding to 8 bits."""
