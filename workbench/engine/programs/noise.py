"""Measures gradients of a run's batches at fixed weights, for the gradient noise scale.

`noise RUN_DIR STEPS PASS AT`, in the run's interpreter. The run's own script gives strategy, model,
data and steps. AT is `last` for the newest checkpoint, or `all` for the first weights and every
kept checkpoint. At each of them, STEPS steps use the batches that come next in an epoch. The first
PASS batches of an epoch hold each example once.

Every step is the script's own, up to the gradients that it would give to the optimizer. So Dropout
draws again and batch normalization uses the batch, but nothing is applied. At the same weights,
gradients of other steps count like gradients of more replicas.

It only reads the run folder, and prints one line of JSON. Each of several workers has such a
process, with its TF_CONFIG, and reports the norms of its own replicas.
"""

import functools
import math
import pathlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from . import xray
from .asker import reply
from .batch_rows import training_arrays
from .script import import_script, without_xla

MOST_GROUPS, FEWEST_GROUPS = 32, 8
GROUP_BYTES = 2**30
"""The memory limit for the sums of all groups, if that allows at least `FEWEST_GROUPS` groups."""
MOST_KEPT = 4
"""The most places to measure at: the first weights, and the checkpoints that a run keeps."""


def kept_steps(folder: pathlib.Path) -> list[int]:
    """Return the number of steps done in each kept checkpoint, in order."""
    return sorted({*xray.saved_steps(folder).values()})[1 - MOST_KEPT :]


def meet(strategy: tf.distribute.Strategy, steps: list[int]) -> None:
    """Wait for the processes of all workers, which must have found the same checkpoints."""
    for step in (steps + [0] * MOST_KEPT)[:MOST_KEPT]:
        xray.meet(strategy, step)


def hold_weights(model: tf.keras.Model) -> None:
    """Make the optimizer do nothing."""
    for name in ("apply", "apply_gradients"):
        if hasattr(model.optimizer, name):
            setattr(model.optimizer, name, lambda *_, **__: None)


def own_gradient(model: tf.keras.Model, seen: Any) -> tf.Tensor:
    """Return the gradient of this replica's step, with all weights in one row.

    Replicas sum their gradients, so each gradient is only a part of a mean. The returned gradient
    is the replica's own mean.
    """
    if len(seen.gradients.last) != len(model.trainable_weights):
        raise SystemExit(
            f"The gradients cannot be read: the train_step of {model.name} does not take those of "
            "all trainable weights from tf.GradientTape. Take them from a tape, or choose the "
            "custom loop."
        )
    kind = tf.keras.backend.floatx()
    parts = [tf.cast(part, kind) for part in xray.own_gradients(seen, model)]
    row = tf.concat([tf.reshape(part, [-1]) for part in parts], axis=0)
    return row * tf.distribute.get_strategy().num_replicas_in_sync


def make_gradients(
    strategy: tf.distribute.Strategy, train_step: Callable, model: tf.keras.Model
) -> Callable:
    """Return a graph function that measures the gradients of a batch.

    It returns each replica's own squared norm and number of examples, and the mean of all replicas'
    gradients, [weights]. If batches come one at a time, the layer is None.
    """
    hold_weights(model)

    def on_replica(stack: Any, layer: tf.Tensor | None) -> tuple[tf.Tensor, ...]:
        batch = stack
        if layer is not None:
            batch = tf.nest.map_structure(lambda part: part[layer], stack)
        _, seen, row = train_step(batch)
        own = own_gradient(model, seen)
        replicas = tf.distribute.get_replica_context()
        mean = replicas.all_reduce("SUM", own) / replicas.num_replicas_in_sync
        squared = tf.reduce_sum(tf.square(tf.cast(own, tf.float64)))
        return squared, tf.cast(row[2], tf.float64), mean

    @tf.function
    def gradients(stack: Any, layer: tf.Tensor | None) -> Any:
        return strategy.run(on_replica, args=(stack, layer))

    return gradients


def batches(
    script: Any, strategy: tf.distribute.Strategy, first: int, *, stacked: bool
) -> Iterator[tuple[Any, tf.Tensor | None]]:
    """Yield the batches of one step after another, each as a stack and its layer in the stack."""
    for stack in script.make_batches(strategy, first)[0]:
        if stacked:
            yield from ((stack, tf.constant(layer)) for layer in range(script.STEPS_PER_STACK))
        else:
            yield stack, None


def has_layers(script: Any, strategy: tf.distribute.Strategy) -> bool:
    """Return whether batches come in stacks, even if each stack holds only one batch."""
    arrays = training_arrays(script)
    stack = next(iter(script.make_batches(strategy, 0)[0]))
    part = xray.local(strategy, tf.nest.flatten(stack)[0])[0]
    return bool(arrays) and part.ndim > arrays[0].ndim


def group_size(steps: int, weights: int) -> int:
    """Return the number of steps in a group. A group's mean gradient is kept until the end."""
    fitting = GROUP_BYTES // (8 * max(1, weights))
    return math.ceil(steps / min(MOST_GROUPS, max(FEWEST_GROUPS, fitting)))


def measure(
    gradients: Callable, strategy: tf.distribute.Strategy, stacks: Iterator[tuple], steps: int
) -> dict[str, Any]:
    """Return squared norms and examples, [step, own replica], and the groups' inner products.

    Sums over steps are in float64. Last steps that do not fill a group are left out.
    """
    norms, counts, sums, size = [], [], [], 0
    for number in range(steps):
        squared, examples, means = (xray.local(strategy, part) for part in gradients(*next(stacks)))
        size = size or group_size(steps, len(means[0]))
        norms.append([float(each) for each in squared])
        counts.append([float(each) for each in examples])
        if number % size == 0:
            sums.append(np.zeros(len(means[0])))
        sums[-1] += means[0]
    groups = steps // size
    rows = np.stack(sums[:groups]) / size
    return {
        "squared_norms": norms[: groups * size],
        "examples": counts[: groups * size],
        "group_steps": size,
        "products": (rows @ rows.T).tolist(),
        "weights": rows.shape[1],
    }


def hold_still(model: tf.keras.Model, strategy: tf.distribute.Strategy) -> Callable[[], None]:
    """Return a check that, after the measurement, refuses weights that have changed."""
    before = xray.hash_copies(strategy, model.trainable_weights)

    def check() -> None:
        if xray.hash_copies(strategy, model.trainable_weights) != before:
            raise SystemExit(
                f"The noise cannot be measured: the step of {model.name} changes the weights "
                "without model.optimizer. Let the optimizer apply the gradients."
            )

    return check


def go_to(model: tf.keras.Model, folder: pathlib.Path, step: int) -> None:
    """Load the weights of a checkpoint. Step 0 means the first weights."""
    if xray.restore(model, folder, step) != step:
        raise SystemExit(
            f"The run went on and deleted the checkpoint of step {step} during the measurement. "
            "Measure again."
        )


def main(run_dir: pathlib.Path, steps: int, in_pass: int, at: str) -> None:
    """Measure at the requested weights and print the results."""
    script = import_script(run_dir / "train.py")
    script.make_data = functools.cache(script.make_data)  # every pipeline asks for it
    strategy, folder = script.make_strategy(), run_dir / "checkpoints"
    model = xray.make_model(script, strategy)
    kept = kept_steps(folder)
    places = [0, *kept] if at == "all" else kept[-1:]
    meet(strategy, places)
    train_step = without_xla(script, model)
    gradients = make_gradients(strategy, train_step, model)
    stacked, results = has_layers(script, strategy), []
    for place in places:
        go_to(model, folder, place)
        check = hold_still(model, strategy)
        first = place % script.STEPS_PER_EPOCH
        first = first if first + steps <= in_pass else 0
        stacks = batches(script, strategy, first, stacked=stacked)
        results.append({"step": place, **measure(gradients, strategy, stacks, steps)})
        check()
    reply({"at": results})
    meet(strategy, places)  # waits, as the first end may stop the others' coordination


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
