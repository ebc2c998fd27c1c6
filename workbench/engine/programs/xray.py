"""Takes one step of a run apart: `xray RUN_DIR STEP`, in the run's interpreter.

The run's own script gives strategy, model, data and steps. The program starts at the nearest
checkpoint at or before STEP (0-based) and goes forward as the run did. It does that step and
reports the step's numbers. It only reads the run folder, and prints one line of JSON, in which a
number that is not finite is null.

Each of several workers has such a process, with its TF_CONFIG, and reports its own replicas. If
workers are asynchronous, one process reports the batch that each worker takes in its own step STEP.
"""

import contextlib
import hashlib
import json
import math
import os
import pathlib
import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import tensorflow as tf

from .asker import reply
from .batch_rows import find_rows, rows_of_batch, training_arrays
from .script import import_script, without_xla

HASH_DIGITS = 12
PART = "part "
PROGRESS = "progress/.ATTRIBUTES/VARIABLE_VALUE"
STEP = "step/.ATTRIBUTES/VARIABLE_VALUE"
"""What a checkpoint counts: in earlier releases, and now."""


def saved_steps(folder: pathlib.Path) -> dict[str, int]:
    """Return the number of steps done in each checkpoint of a folder, by the checkpoint's path.

    A live run removes its oldest checkpoints meanwhile: missing and incomplete ones are left out.
    """
    found, noted = dict[str, int](), dict[str, int]()
    for events in folder.parent.glob("*/events.jsonl"):
        for line in events.read_text(errors="replace").splitlines():
            with contextlib.suppress(ValueError):  # it is being written, or a full disk cut it
                event = json.loads(line)
                if event["event"] == "checkpoint":
                    noted[event.get("checkpoint", "")] = event["step"]
    for index in folder.glob("ckpt-*.index"):
        path = str(index.with_suffix(""))
        with contextlib.suppress(tf.errors.OpError, ValueError):
            counted = steps_of(tf.train.load_checkpoint(path))
            found[path] = noted.get(f"{folder.name}/{index.stem}", counted)
    return found


def steps_of(checkpoint: Any) -> int:
    """Return the number of steps done in a checkpoint."""
    if checkpoint.has_tensor(STEP):
        return int(checkpoint.get_tensor(STEP))
    return int(checkpoint.get_tensor(PROGRESS)[0])


def find_checkpoint(folder: pathlib.Path, step: int) -> tuple[str | None, int]:
    """Return the newest checkpoint at or before a step, and the steps done in it.

    None and 0 if there is no such checkpoint.
    """
    before = {path: done for path, done in saved_steps(folder).items() if 0 < done <= step}
    newest = max(before, key=before.__getitem__, default=None)
    return newest, before[newest] if newest else 0


def make_model(script: Any, strategy: tf.distribute.Strategy) -> tf.keras.Model:
    """Return the model with its optimizer, made as the script's `main` makes it."""
    tf.keras.utils.set_random_seed(script.SEED)
    tf.config.run_functions_eagerly(script.RUN_EAGERLY)
    with strategy.scope():
        model = script.make_model()
        model.optimizer.build(model.trainable_variables)
    return model


def restore(model: tf.keras.Model, folder: pathlib.Path, step: int) -> int:
    """Load the nearest checkpoint at or before a step; return how many steps were done in it."""
    path, start = find_checkpoint(folder, step)
    if path is not None:
        # Otherwise a checkpoint of another model could be restored in part.
        tf.train.Checkpoint(model=model).restore(path).assert_existing_objects_matched()
        state = {"model": model, "optimizer": model.optimizer}
        others = [each.value for each in model.variables]
        tf.train.Checkpoint(**state, others=others).restore(path).expect_partial()
    return start


def meet(strategy: tf.distribute.Strategy, start: int) -> None:
    """Wait for the processes of all workers, if several. All must start from the same step."""
    if "TF_CONFIG" not in os.environ:
        return
    own = tf.constant([1, start, start**2], tf.float64)
    count, total, squares = strategy.reduce(
        "SUM", strategy.run(tf.identity, args=(own,)), None
    ).numpy()
    if squares * count != total**2:
        raise SystemExit(
            f"The run went on and saved a new checkpoint meanwhile, so not all workers found the "
            f"checkpoint of step {start}. Take the X-ray again."
        )


def mean_of_tasks(strategy: tf.distribute.Strategy, value: float) -> float:
    """Return the mean of a value over the processes of all workers; each waits for all others."""
    if "TF_CONFIG" not in os.environ:
        return value
    own = strategy.run(tf.identity, args=(tf.constant(value, tf.float64),))
    return float(strategy.reduce("MEAN", own, None))


def go_forward(script: Any, steps: Callable, data: Any, first: int, last: int) -> None:
    """Do the steps from `first` up to the stack that holds `last`. This stack is not taken.

    A stack never crosses the end of an epoch.
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


def own_gradients(seen: Any, model: tf.keras.Model) -> list[tf.Tensor]:
    """Return the gradients of a replica's step, of all weights that its loss depends on."""
    if not seen.gradients.last:
        raise SystemExit(
            f"The gradients cannot be read: the train_step of {model.name} does not take them from "
            "tf.GradientTape. Take them from a tape, or choose the custom loop."
        )
    return [tf.convert_to_tensor(part) for part in seen.gradients.last if part is not None]


def norm_of_sum(gradients: list) -> tf.Tensor:
    """Return the norm of the gradients once they are summed over all replicas."""
    summed = tf.distribute.get_replica_context().all_reduce("SUM", gradients)
    return tf.linalg.global_norm(summed)


def take_apart(
    strategy: tf.distribute.Strategy,
    train_step: Callable,
    model: tf.keras.Model,
    *,
    clips: bool,
) -> Callable:
    """Return a graph function that does one step of a stack and returns each replica's numbers.

    If batches come one at a time, the layer is None.
    """

    def on_replica(stack: tuple[tf.Tensor, ...], layer: tf.Tensor | None) -> dict[str, tf.Tensor]:
        batch = stack
        if layer is not None:
            batch = tf.nest.map_structure(lambda part: part[layer], stack)
        _, seen, row = train_step(batch)
        own = own_gradients(seen, model)
        taken = {f"{PART}{number}": part for number, part in enumerate(tf.nest.flatten(batch))}
        taken["row"] = row[:3]
        taken["loss"] = tf.reduce_sum(seen.gradients.loss)
        taken["gradient_norm"] = tf.linalg.global_norm(own)
        taken["sum_norm"] = norm_of_sum(own)
        applied = [part for part in seen.gradients.applied if part is not None]
        if clips and applied:
            taken["applied_norm"] = norm_of_sum(applied)
        return taken

    @tf.function
    def on_replicas(stack: tuple[Any, ...], layer: tf.Tensor | None) -> dict[str, Any]:
        return strategy.run(on_replica, args=(stack, layer))

    return on_replicas


def local(strategy: tf.distribute.Strategy, value: Any) -> list[np.ndarray]:
    """Return each replica's part of a value, in order of replicas."""
    return [np.asarray(part) for part in strategy.experimental_local_results(value)]


def copies_of(strategy: tf.distribute.Strategy, weight: Any) -> list[Any]:
    """Return all copies of a weight, in order of replicas."""
    variable = weight if callable(weight.value) else weight.value
    return list(strategy.experimental_local_results(variable))


def hash_copies(strategy: tf.distribute.Strategy, weights: list) -> list[dict[str, Any]]:
    """Return, for each copy of all weights, its device, its hash and the hash of each weight."""
    copies = list(zip(*(copies_of(strategy, weight) for weight in weights)))
    results = []
    for copy in copies:
        device = tf.DeviceSpec.from_string(copy[0].device)
        parts = [hash_of([part.numpy()]) for part in copy]
        together = hash_of(part.numpy() for part in copy)
        name = f"{device.device_type}:{device.device_index}"
        results.append({"device": name, "sha256": together, "parts": parts})
    return results


def hash_of(arrays: Iterable[np.ndarray]) -> str:
    """Return the first digits of the SHA-256 of arrays, one after another."""
    content = hashlib.sha256()
    for array in arrays:
        content.update(array.tobytes())
    return content.hexdigest()[:HASH_DIGITS]


def names_of(weights: list) -> list[str]:
    """Return the names of weights."""
    return [getattr(weight, "path", weight.name) for weight in weights]


def own_batch(script: Any, run_dir: pathlib.Path, worker: int, step: int) -> int:
    """Return which of its own batches a worker took in its own step `step`, both from 0.

    After a resume, and in `fit` in each epoch, all workers go on from their share of the steps that
    were done together.
    """
    own, begins = step, ("start",) if hasattr(script, "make_loop") else ("start", "epoch")
    for line in (run_dir / "chief-0" / "events.jsonl").read_text().splitlines():
        event = json.loads(line or "{}")
        if event.get("event") in begins and "worker_steps" in event:
            begun = event["worker_steps"].get(f"worker-{worker}", 0)
            if begun <= step:
                own = event.get("counted", event["step"]) // script.WORKERS + step - begun
    return own


def batches_of_workers(script: Any, run_dir: pathlib.Path, step: int) -> list[dict[str, Any]]:
    """Return the batch that each asynchronous worker takes in its own step `step`."""
    arrays = training_arrays(script)
    coordinator, size, results = tf.distribute.coordinator, script.PER_REPLICA_BATCH_SIZE, []
    for worker in range(script.WORKERS):
        # TensorFlow knows the index only inside a call that a coordinator has scheduled.
        coordinator.experimental_get_current_worker_index = lambda at=worker: tf.constant(at)
        own = own_batch(script, run_dir, worker, step)
        make_worker_batches, _ = script.make_batches()
        batch = next(iter(make_worker_batches(own * script.WORKERS)))
        received = tuple(part.numpy() for part in tf.nest.flatten(batch))
        planned = rows_of_batch(script, own * script.WORKERS + worker, size)
        (rows,) = find_rows(planned, arrays, [received])
        results.append({"examples": len(received[0]), "rows": rows})
    return results


def finite(value: float) -> float | None:
    """Return a finite number, or None, because JSON cannot hold other numbers."""
    return float(value) if math.isfinite(value) else None


def describe_replica(
    rows: list[int] | None, taken: dict[str, list[np.ndarray]], at: int
) -> dict[str, Any]:
    """Return the numbers of this process's replica `at`."""
    loss_sum, correct, examples = taken["row"][at].tolist()
    numbers = {"loss_sum": loss_sum, "correct": correct}
    for name in ("loss", "gradient_norm", "sum_norm", "applied_norm"):
        if name in taken:
            numbers[name] = taken[name][at]
    finites = {name: finite(number) for name, number in numbers.items()}
    return {"examples": int(examples), "rows": rows, **finites}


def take_step(
    script: Any, strategy: tf.distribute.Strategy, model: tf.keras.Model, start: int, step: int
) -> tuple[dict[str, list[np.ndarray]], list[dict[str, Any]]]:
    """Go forward, take the step apart; return replicas' numbers and the weights before the step."""
    data = iter(script.make_batches(strategy, start)[0])
    train_step, test_step = script.make_steps(model)
    train_steps, _ = script.make_loops(strategy, train_step, test_step)
    go_forward(script, train_steps, data, start, step)
    clips = getattr(script, "CLIP_NORM", None) is not None
    apart = take_apart(strategy, without_xla(script, model), model, clips=clips)
    stack, last = next(data), step % script.STEPS_PER_EPOCH % script.STEPS_PER_STACK
    arrays = training_arrays(script)
    first = local(strategy, tf.nest.flatten(stack)[0])[0]
    stacked = bool(arrays) and first.ndim > arrays[0].ndim
    for layer in range(last + 1):
        before = hash_copies(strategy, model.trainable_weights)
        values = apart(stack, tf.constant(layer) if stacked else None)
    return {name: local(strategy, value) for name, value in values.items()}, before


def main(run_dir: pathlib.Path, step: int) -> None:
    """Print the numbers of a common step, or the batch of each worker in its own step."""
    script = import_script(run_dir / "train.py")
    if "chief" in getattr(script, "TASKS", ()):
        reply({"workers": batches_of_workers(script, run_dir, step)})
    else:
        take_common_step(script, run_dir, step)


def take_common_step(script: Any, run_dir: pathlib.Path, step: int) -> None:
    """Go to a step of all replicas, take it apart and print its numbers."""
    strategy = script.make_strategy()
    model = make_model(script, strategy)
    start = restore(model, run_dir / "checkpoints", step)
    meet(strategy, start)
    taken, before = take_step(script, strategy, model, start, step)
    arrays = training_arrays(script)
    received = list(zip(*(taken[name] for name in taken if name.startswith(PART))))
    planned = rows_of_batch(script, step, script.GLOBAL_BATCH_SIZE)
    rows = find_rows(planned, arrays, received)
    trained, others = model.trainable_weights, model.non_trainable_weights
    result = {
        "step": step,
        "epoch": step // script.STEPS_PER_EPOCH + 1,
        "started_at_step": start,
        "global_batch_size": script.GLOBAL_BATCH_SIZE,
        "clip_norm": getattr(script, "CLIP_NORM", None),
        "replicas": [describe_replica(each, taken, at) for at, each in enumerate(rows)],
        "weights": {
            "names": names_of(trained),
            "before": before,
            "after": hash_copies(strategy, trained),
            "other_names": names_of(others),
            "others": hash_copies(strategy, others),
            "numbers": int(sum(np.prod(weight.shape) for weight in trained)),
        },
    }
    reply(result)
    meet(strategy, start)  # waits, as the first end may stop the others' coordination


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), int(sys.argv[2]))
