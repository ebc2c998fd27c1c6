"""Tests a finished run's model: `python evaluate.py RUN_DIR`, in the run's interpreter.

The run's own script gives data and model. Writes evaluation.json and predictions.npz into the run
folder and prints the former in one line.
"""

import importlib.util
import json
import pathlib
import sys
from typing import Any

import numpy as np
import tensorflow as tf

BATCH_SIZE = 256
NUM_SAMPLES = 48
CLASS_NAMES = {
    10: [
        *("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat"),
        *("Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"),
    ],
    2: ["0", "1"],
}


def import_script(path: pathlib.Path) -> Any:
    """Return a run's script as a module; its `main` does not run."""
    spec = importlib.util.spec_from_file_location("train", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"A run folder holds its script; {path} cannot be imported. Restore it.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def predict(model: Any, features: np.ndarray) -> np.ndarray:
    """Return the model's outputs for all examples."""
    run = tf.function(lambda batch: model(batch, training=False), reduce_retracing=True)
    starts = range(0, len(features), BATCH_SIZE)
    return np.concatenate([run(features[at : at + BATCH_SIZE]).numpy() for at in starts])


def answer(outputs: np.ndarray, from_logits: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return each example's answer, a class number, and the confidence in it, from 0 to 1."""
    if outputs.shape[-1] == 1:
        ones = tf.sigmoid(outputs[:, 0]).numpy() if from_logits else outputs[:, 0]
        return (ones > 0.5).astype(int), np.maximum(ones, 1 - ones)
    shares = tf.nn.softmax(outputs).numpy() if from_logits else outputs
    return shares.argmax(axis=1), shares.max(axis=1)


def by_class(labels: np.ndarray, answers: np.ndarray) -> list[dict[str, Any]]:
    """Return examples and accuracy of each class."""
    count = int(max(labels.max(), answers.max())) + 1
    names = CLASS_NAMES.get(count, [str(number) for number in range(count)])
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


def choose_samples(right: np.ndarray, confidence: np.ndarray) -> np.ndarray:
    """Return the numbers of examples to show: the surest mistakes, then the first ones."""
    wrong = np.flatnonzero(~right)
    mistakes = wrong[np.argsort(-confidence[wrong])][: NUM_SAMPLES // 3]
    others = np.setdiff1d(np.arange(len(right)), mistakes)[: NUM_SAMPLES - len(mistakes)]
    return np.concatenate([mistakes, others])


def main(run_dir: pathlib.Path) -> None:
    """Test, write and print."""
    script = import_script(run_dir / "train.py")
    features, labels = map(np.asarray, script.load_arrays()[1])
    model = script.make_model()
    model.load_weights(run_dir / "model.keras")
    outputs = predict(model, features)
    loss = tf.keras.losses.get(model.loss)
    losses = getattr(loss, "call", loss)(labels, outputs)
    penalty = float(tf.add_n(model.losses)) if model.losses else 0.0
    answers, confidence = answer(outputs, getattr(loss, "from_logits", False))
    truth = labels.reshape(-1).astype(int)
    result = {
        "test_loss": float(np.mean(losses)) + penalty,
        "test_accuracy": float(np.mean(script.ACCURACY(labels, outputs))),
        "test_examples": len(labels),
        "classes": by_class(truth, answers),
    }
    shown = choose_samples(truth == answers, confidence)
    arrays = {"labels": truth[shown], "answers": answers[shown], "confidence": confidence[shown]}
    if features.ndim == 4:
        arrays["images"] = np.uint8(np.round(features[shown, :, :, 0] * 255))
    np.savez_compressed(run_dir / "predictions.npz", **arrays)
    (run_dir / "evaluation.json").write_text(json.dumps(result, indent=1))
    print(json.dumps(result))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
