"""Takes one step of a run apart: `python xray.py RUN_DIR STEP`, in the run's interpreter.

The run's own script gives strategy, model, data and steps. From the nearest checkpoint at or before
STEP (0-based) it goes forward as the run did, then does that step and tells its numbers. It reads
the run folder only, and prints one line of JSON; a number that is not finite is null there.
"""

import contextlib
import hashlib
import importlib.util
import json
import math
import pathlib
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

HASH_DIGITS = 12
PROGRESS = "progress/.ATTRIBUTES/VARIABLE_VALUE"


def import_script(path: pathlib.Path) -> Any:
    """Return a run's script as a module; its `main` does not run."""
    spec = importlib.util.spec_from_file_location("train", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"A run folder holds its script; {path} cannot be imported. Restore it.")
    module = importlib.util.module_from_spec(spec)
    sys.modules["train"] = module  # AutoGraph looks for the source through it
    spec.loader.exec_module(module)
    return module


def find_checkpoint(folder: pathlib.Path, step: int) -> tuple[str | None, int]:
    """Return the newest checkpoint at or before a step, and the steps done in it; None: no such.

    A run that lives removes its oldest ones meanwhile: what is gone or torn is passed over.
    """
    state = tf.train.get_checkpoint_state(str(folder))
    best: tuple[str | None, int] = (None, 0)
    for path in state.all_model_checkpoint_paths if state else ():
        with contextlib.suppress(tf.errors.OpError, ValueError):
            done = int(tf.train.load_checkpoint(path).get_tensor(PROGRESS)[0])
            if best[1] < done <= step:
                best = path, done
    return best


def make_model(script: Any, strategy: tf.distribute.Strategy) -> tf.keras.Model:
    """Return the model with its optimizer, made as the script's `main` makes it."""
    tf.keras.utils.set_random_seed(script.SEED)
    tf.config.run_functions_eagerly(script.RUN_EAGERLY)
    with strategy.scope():
        model = script.make_model()
        model.compile(optimizer=script.make_optimizer(), loss=model.loss)
        model.optimizer.build(model.trainable_variables)
    return model


def go_forward(script: Any, steps: Callable, data: Any, first: int, last: int) -> None:
    """Do the steps from `first` up to the stack that holds `last`, which is left to be taken.

    A stack never goes over the end of an epoch.
    """
    while first < last:
        epoch_end = (first // script.STEPS_PER_EPOCH + 1) * script.STEPS_PER_EPOCH
        count = min(epoch_end, last) - first
        if first + count < epoch_end:
            count -= count % script.STEPS_PER_STACK
        if not count:
            return
        steps(data, tf.constant(count))
        first += count


def watch_gradients(script: Any, model: tf.keras.Model) -> Any:
    """Have each replica's thread keep the loss it differentiates and its own gradients.

    Where the step clips, also what it hands to the optimizer instead.
    """
    seen, gradient, apply = threading.local(), tf.GradientTape.gradient, None

    def watched_gradient(tape: Any, target: Any, sources: Any, *rest: Any, **named: Any) -> Any:
        found = gradient(tape, target, sources, *rest, **named)
        seen.loss, seen.gradients = target, found
        return found

    def watched_apply(grads_and_vars: Any, *rest: Any, **named: Any) -> Any:
        pairs = list(grads_and_vars)
        seen.applied = [part for part, _ in pairs]
        return apply(pairs, *rest, **named)

    tf.GradientTape.gradient = watched_gradient
    if getattr(script, "CLIP_NORM", None) is not None:
        apply = model.optimizer.apply_gradients
        model.optimizer.apply_gradients = watched_apply
    return seen


def norm_of_sum(gradients: list) -> tf.Tensor:
    """Return the norm of the gradients once they are summed over all replicas."""
    summed = tf.distribute.get_replica_context().all_reduce("SUM", gradients)
    return tf.linalg.global_norm(summed)


def take_apart(
    strategy: tf.distribute.Strategy, train_step: Callable, seen: Any, name: str
) -> Callable:
    """Return a graph function that does a step and returns what every replica saw in it."""

    def on_replica(batch: tuple[tf.Tensor, ...]) -> dict[str, tf.Tensor]:
        seen.gradients = seen.applied = None
        row = train_step(batch)
        if seen.gradients is None:
            raise SystemExit(
                f"Gradients are seen where tf.GradientTape gives them; the train_step of {name} "
                "does not ask it. Take them from a tape, or choose the custom loop."
            )
        own = [tf.convert_to_tensor(part) for part in seen.gradients if part is not None]
        taken = {"row": row, "loss": tf.reduce_sum(seen.loss), "norm": tf.linalg.global_norm(own)}
        taken["sum_norm"] = norm_of_sum(own)
        if seen.applied is not None:
            taken["applied_norm"] = norm_of_sum([part for part in seen.applied if part is not None])
        return taken

    return tf.function(lambda batch: strategy.run(on_replica, args=(batch,)))


def local(strategy: tf.distribute.Strategy, value: Any) -> list[np.ndarray]:
    """Return each replica's part of a value, in order of replicas."""
    return [np.asarray(part) for part in strategy.experimental_local_results(value)]


def hash_copies(
    strategy: tf.distribute.Strategy, model: tf.keras.Model
) -> tuple[list[dict[str, str]], list[str]]:
    """Return device and hash of each copy of the weights there is, and the weights that differ."""
    hashes, devices, differing = list[Any](), list[str](), list[str]()
    for weight in model.weights:
        value = weight if callable(weight.value) else weight.value
        copies = strategy.experimental_local_results(value)
        if not hashes:
            hashes = [hashlib.sha256() for _ in copies]
            devices = [tf.DeviceSpec.from_string(copy.device) for copy in copies]
        contents = [copy.numpy().tobytes() for copy in copies]
        for hashed, content in zip(hashes, contents):
            hashed.update(content)
        if len(set(contents)) > 1:
            differing.append(getattr(weight, "path", weight.name))
    shown = [f"{device.device_type}:{device.device_index}" for device in devices]
    digests = [hashed.hexdigest()[:HASH_DIGITS] for hashed in hashes]
    return [{"device": at, "sha256": digest} for at, digest in zip(shown, digests)], differing


def rows_of_step(script: Any, step: int) -> np.ndarray:
    """Return the numbers, in the training set, of a step's examples in the order of the batch."""
    epoch, in_epoch = divmod(step, script.STEPS_PER_EPOCH)
    size = script.GLOBAL_BATCH_SIZE
    first = tf.constant(in_epoch * size, tf.int64)
    return script.shuffled_rows(tf.constant(epoch, tf.int64), first, size).numpy()


def share_rows(
    rows: np.ndarray, arrays: list[np.ndarray], received: list[tuple[np.ndarray, ...]]
) -> list[list[int] | None]:
    """Return the example numbers of each replica, None where it received others than these.

    Replicas take their shares of the batch in order; features and labels are compared bit by bit.
    """
    ends = np.cumsum([len(parts[0]) for parts in received])
    shares = np.split(rows, ends[:-1])
    return [
        share.tolist()
        if all(np.array_equal(array[share], part) for array, part in zip(arrays, parts))
        else None
        for share, parts in zip(shares, received)
    ]


def finite(value: float) -> float | None:
    """Return a number that JSON can hold."""
    return float(value) if math.isfinite(value) else None


def describe_replicas(
    taken: dict[str, list[np.ndarray]], shares: list[list[int] | None]
) -> list[dict[str, Any]]:
    """Return each replica's numbers."""
    return [
        {
            "replica": replica,
            "rows": shares[replica],
            "loss_sum": finite(row[0]),
            "correct": finite(row[1]),
            "examples": int(row[2]),
            "loss": finite(taken["loss"][replica]),
            "gradient_norm": finite(taken["norm"][replica]),
            **{
                name: finite(taken[name][replica])
                for name in ("sum_norm", "applied_norm")
                if name in taken
            },
        }
        for replica, row in enumerate(taken["row"])
    ]


def main(run_dir: pathlib.Path, step: int) -> None:
    """Go to the step, take it apart and print what it was."""
    script = import_script(run_dir / "train.py")
    strategy = script.make_strategy()
    model = make_model(script, strategy)
    path, start = find_checkpoint(run_dir / "checkpoints", step)
    if path is not None:
        checkpoint = tf.train.Checkpoint(model=model, optimizer=model.optimizer)
        checkpoint.restore(path).expect_partial()
    data = iter(script.make_data(strategy, start)[0])
    train_step, test_step = script.make_steps(model)
    train_steps, _ = script.make_loops(strategy, train_step, test_step)
    go_forward(script, train_steps, data, start, step)

    arrays = [np.asarray(part) for part in script.load_arrays()[0]]
    seen = watch_gradients(script, model)
    apart = take_apart(strategy, train_step, seen, model.name)
    element, layer = next(data), step % script.STEPS_PER_EPOCH % script.STEPS_PER_STACK
    stacked = local(strategy, element[0])[0].ndim > arrays[0].ndim
    for number in range(layer + 1):
        batch = element
        if stacked:
            pick = lambda stack, at=number: tuple(part[at] for part in stack)  # noqa: E731
            batch = strategy.run(pick, args=(element,))
        before, _ = hash_copies(strategy, model)
        values = apart(batch)
    taken = {name: local(strategy, value) for name, value in values.items()}
    copies, differing = hash_copies(strategy, model)
    received = list(zip(*(local(strategy, part) for part in batch)))
    shares = share_rows(rows_of_step(script, step), arrays, received)
    told = {
        "step": step,
        "epoch": step // script.STEPS_PER_EPOCH + 1,
        "started_at_step": start,
        "global_batch_size": script.GLOBAL_BATCH_SIZE,
        "clip_norm": getattr(script, "CLIP_NORM", None),
        "replicas": describe_replicas(taken, shares),
        "weights": {
            "before": before,
            "after": copies,
            "differing": differing,
            "arrays": len(model.weights),
            "numbers": int(sum(np.prod(weight.shape) for weight in model.weights)),
        },
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), int(sys.argv[2]))
