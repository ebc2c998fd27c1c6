"""Tests a run's model: `evaluate RUN_DIR [STEP]`, in the run's interpreter.

The run's own script gives data and model. The weights are those of the saved model, or with STEP of
the checkpoint after so many steps. Writes evaluation.json into the run folder and prints it
in one line. If the examples have classes, also writes predictions.npz.
"""

import json
import pathlib
import sys
from typing import Any

import numpy as np
import tensorflow as tf

from .asker import reply
from .check_model import has_own
from .script import import_plain
from .xray import restore

BATCH_SIZE = 256
NUM_SAMPLES = 48
MOST_PIXELS = 128
"""The longest side, in pixels, of an image that is shown."""
CLASS_NAMES = {
    "fashion_mnist": [
        *("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat"),
        *("Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"),
    ],
}


def batches(part: Any) -> tf.data.Dataset:
    """Return the test examples, arrays or a data set, in batches."""
    dataset = part if isinstance(part, tf.data.Dataset) else None
    examples = tf.data.Dataset.from_tensor_slices(part) if dataset is None else dataset
    return examples.batch(BATCH_SIZE)


def test(model: Any, tests: Any) -> tuple[dict[str, Any], list[tuple[Any, Any, Any]]]:
    """Return the model's results of the test, and features, labels and outputs of every batch."""
    model.jit_compile = False  # as in training
    found = model.evaluate(batches(tests), verbose=0, return_dict=True)
    known = [value for name, value in found.items() if name.endswith(("accuracy", "acc"))]
    answers = has_own(model, "call")  # else it has only steps of its own
    forward = tf.function(
        lambda batch: model(batch, training=False) if answers else None, reduce_retracing=True
    )
    seen = []
    for batch in batches(tests):
        features, labels, _ = tf.keras.utils.unpack_x_y_sample_weight(batch)
        seen.append((features, labels, forward(features)))
    results = {
        "test_loss": float(found.get("loss", next(iter(found.values())))),
        "test_accuracy": float(f"{known[0]:.6g}") if known else None,  # a mean of float32
        "test_examples": sum(len(tf.nest.flatten(features)[0]) for features, *_ in seen),
    }
    return results, seen


def classified(batches: list[tuple[Any, Any, Any]]) -> tuple[np.ndarray, np.ndarray] | None:
    """Return class numbers and outputs of all examples; None if they have no classes."""
    if not all(tf.is_tensor(part) for part in (batches[0][1], batches[0][2])):
        return None
    labels, outputs = (np.concatenate([each[at].numpy() for each in batches]) for at in (1, 2))
    if outputs.ndim != 2 or labels.size != len(labels):
        return None  # one-hot labels, several labels per example, sequences
    return labels.reshape(-1).astype(int), outputs


def answer(outputs: np.ndarray, from_logits: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return each example's answer, a class number, and the confidence in it, from 0 to 1."""
    if outputs.shape[-1] == 1:
        ones = tf.sigmoid(outputs[:, 0]).numpy() if from_logits else outputs[:, 0]
        return (ones > 0.5).astype(int), np.maximum(ones, 1 - ones)
    shares = tf.nn.softmax(outputs).numpy() if from_logits else outputs
    return shares.argmax(axis=1), shares.max(axis=1)


def class_names(labels: np.ndarray, answers: np.ndarray, data: str) -> list[str]:
    """Return the name of each class; a class without a name has its number."""
    count = int(max(labels.max(), answers.max())) + 1
    known = CLASS_NAMES.get(data, [])
    return [*known, *(str(number) for number in range(len(known), count))]


def by_class(labels: np.ndarray, answers: np.ndarray, data: str) -> list[dict[str, Any]]:
    """Return the number of examples and the accuracy of each class."""
    names = class_names(labels, answers, data)
    masks = [(name, labels == number) for number, name in enumerate(names)]
    return [
        {
            "name": name,
            "examples": int(mask.sum()),
            "accuracy": float((answers[mask] == number).mean()),
        }
        for number, (name, mask) in enumerate(masks)
        if mask.any()
    ]


def confusion(labels: np.ndarray, answers: np.ndarray, data: str) -> dict[str, Any]:
    """Return the counts of the confusion matrix that are not zero, and the names of its classes.

    Each of the `pairs` is [true class, predicted class, examples], in the order of the classes,
    which are numbers that count the `names`. A negative label is no class.
    """
    labeled = labels >= 0
    pairs, counts = np.unique([labels[labeled], answers[labeled]], axis=1, return_counts=True)
    return {
        "names": class_names(labels, answers, data),
        "pairs": np.vstack([pairs, counts]).T.tolist(),
    }


def choose_samples(right: np.ndarray, confidence: np.ndarray) -> np.ndarray:
    """Return the numbers of examples to show: the surest mistakes, then the first others."""
    wrong = np.flatnonzero(~right)
    mistakes = wrong[np.argsort(-confidence[wrong])][: NUM_SAMPLES // 3]
    others = np.setdiff1d(np.arange(len(right)), mistakes)[: NUM_SAMPLES - len(mistakes)]
    return np.concatenate([mistakes, others])


def as_images(features: np.ndarray) -> np.ndarray | None:
    """Return examples as images; None if they have another shape or are no numbers.

    Images are uint8 [example, row, column], or with three (RGB) or four (RGBA) channels behind.
    Larger ones than `MOST_PIXELS` are thinned out. The least and the greatest number of all of them
    become black and white.
    """
    pixels = features[..., 0] if features.ndim == 4 and features.shape[-1] == 1 else features
    colored = pixels.ndim == 4 and pixels.shape[-1] in (3, 4)
    if not (pixels.ndim == 3 or colored) or pixels.dtype.kind not in "biuf":
        return None
    every = -(-max(pixels.shape[1:3]) // MOST_PIXELS)
    levels = pixels[:, ::every, ::every].astype(float)
    least, greatest = levels.min(), levels.max()
    return np.round((levels - least) / ((greatest - least) or 1.0) * 255).astype(np.uint8)


def keep_samples(
    path: pathlib.Path, batches: list, truth: np.ndarray, answers: np.ndarray, sure: np.ndarray
) -> None:
    """Write the examples that are shown, with their images if they have any."""
    shown = choose_samples(truth == answers, sure)
    arrays = {"labels": truth[shown], "answers": answers[shown], "confidence": sure[shown]}
    inputs = zip(*(tf.nest.flatten(features) for features, _, _ in batches))
    parts = (as_images(np.concatenate(list(each))[shown]) for each in inputs)
    images = next((part for part in parts if part is not None), None)
    arrays |= {} if images is None else {"images": images}
    np.savez_compressed(path, **arrays)


def has_classes(model: tf.keras.Model) -> bool:
    """Return whether the loss of a model is one of classes."""
    kind = getattr(model.loss, "__name__", type(model.loss).__name__)
    named = model.loss if isinstance(model.loss, str) else kind
    return "crossentropy" in named.lower().replace("_", "")


def load_weights(model: tf.keras.Model, run_dir: pathlib.Path, step: int | None) -> None:
    """Load the weights of the checkpoint after `step` steps, or of the saved model."""
    if step is None:
        model.load_weights(run_dir / "model.keras")
    elif (found := restore(model, run_dir / "checkpoints", step)) != step:
        raise SystemExit(
            f"Needs the checkpoint of step {step}; the newest readable one in {run_dir} is of step "
            f"{found}. Restore its folder checkpoints from a copy, or resume the run."
        )


def main(run_dir: pathlib.Path, step: int | None) -> None:
    """Test the model, write the results and print them."""
    script = import_plain(run_dir / "train.py")
    plan = json.loads((run_dir / "plan.json").read_text())
    data, model = plan["data"], script.make_model()
    if plan["own_model"] is None:
        model.compile(model.optimizer, model.loss, metrics=["accuracy"])
    load_weights(model, run_dir, step)
    result, batches = test(model, script.make_data()[1])
    result["checkpoint_step"] = step
    shown = has_classes(model) or result["test_accuracy"] is not None
    found = classified(batches) if shown else None
    result["classes"] = []
    if found is not None:
        truth, outputs = found
        loss = tf.keras.losses.get(model.loss)
        answers, sure = answer(outputs, getattr(loss, "from_logits", False))
        result["classes"] = by_class(truth, answers, data)
        result["confusion"] = confusion(truth, answers, data)
        keep_samples(run_dir / "predictions.npz", batches, truth, answers, sure)
    (run_dir / "evaluation.json").write_text(json.dumps(result, indent=1))
    reply(result)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), int(sys.argv[2]) if sys.argv[2:] else None)
