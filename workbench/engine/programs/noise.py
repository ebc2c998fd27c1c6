"""Gradients of a run's batches at weights that stand still: for the gradient noise scale.

`noise RUN_DIR STEPS PASS AT`, in the run's interpreter. The run's own script gives
strategy, model, data and steps. AT is `last` for the newest checkpoint, or `all` for the first
weights and every checkpoint that is kept. At each of them STEPS steps are taken of the batches that
come next in an epoch, of which the first PASS hold each example once. Every step is the script's
own, up to what it would hand the optimizer, so that Dropout draws anew and batch normalization uses
the batch; nothing is applied. Of gradients at the same weights those of other steps count as those
of more replicas.

It only reads the run folder, and prints one line of JSON. Of several workers each has such a
process, by its TF_CONFIG, and tells the norms of its own replicas.
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
from .script import import_script

MOST_GROUPS, FEWEST_GROUPS = 32, 8
GROUP_BYTES = 2**30
"""What the sums of all groups may take of memory, as long as there are the fewest groups."""
MOST_KEPT = 4
"""The first weights, and the checkpoints that a recorder keeps."""


def kept_steps(folder: pathlib.Path) -> list[int]:
    """Return the steps done in each checkpoint that is kept, in order."""
    return sorted({*xray.saved_steps(folder).values()})[1 - MOST_KEPT :]


def meet(strategy: tf.distribute.Strategy, steps: list[int]) -> None:
    """Wait for the processes of all workers, which must have found the same checkpoints."""
    for step in (steps + [0] * MOST_KEPT)[:MOST_KEPT]:
        xray.meet(strategy, step)


def hold_weights(model: tf.keras.Model) -> None:
    """Have the optimizer do nothing."""
    for name in ("apply", "apply_gradients"):
        if hasattr(model.optimizer, name):
            setattr(model.optimizer, name, lambda *_, **__: None)


def own_gradient(model: tf.keras.Model, seen: Any) -> tf.Tensor:
    """Return the gradient that this replica's step took, all weights in a row.

    Replicas sum theirs, so that each holds its part of a mean: here it is the replica's own mean.
    """
    if seen.gradients is None or len(seen.gradients) != len(model.trainable_weights):
        raise SystemExit(
            "Gradients are seen where tf.GradientTape gives those of all trainable weights; the "
            f"train_step of {model.name} does not ask it for them last. Take them from a tape, or "
            "choose the custom loop."
        )
    own = [tf.convert_to_tensor(part) for part in seen.gradients if part is not None]
    kind = tf.keras.backend.floatx()
    row = tf.concat([tf.reshape(tf.cast(part, kind), [-1]) for part in own], axis=0)
    return row * tf.distribute.get_strategy().num_replicas_in_sync


def make_look(
    strategy: tf.distribute.Strategy, train_step: Callable, model: tf.keras.Model
) -> Callable:
    """Return a graph function that gives, of a batch, each replica's own squared norm and examples.

    And the mean of all replicas' gradients, [weights]. Of batches that come one at a time, the
    layer is None.
    """
    seen = xray.watch_gradients()
    hold_weights(model)

    def on_replica(stack: Any, layer: tf.Tensor | None) -> tuple[tf.Tensor, ...]:
        batch = stack
        if layer is not None:
            batch = tf.nest.map_structure(lambda part: part[layer], stack)
        seen.gradients = None
        examples = train_step(batch)[-1]
        own = own_gradient(model, seen)
        replicas = tf.distribute.get_replica_context()
        mean = replicas.all_reduce("SUM", own) / replicas.num_replicas_in_sync
        squared = tf.reduce_sum(tf.square(tf.cast(own, tf.float64)))
        return squared, tf.cast(examples, tf.float64), mean

    @tf.function
    def look(stack: Any, layer: tf.Tensor | None) -> Any:
        return strategy.run(on_replica, args=(stack, layer))

    return look


def batches(
    script: Any, strategy: tf.distribute.Strategy, first: int, *, stacked: bool
) -> Iterator[tuple[Any, tf.Tensor | None]]:
    """Yield the batches of one step after another, each as a stack and its layer in that."""
    for stack in script.make_batches(strategy, first)[0]:
        if stacked:
            yield from ((stack, tf.constant(layer)) for layer in range(script.STEPS_PER_STACK))
        else:
            yield stack, None


def has_layers(script: Any, strategy: tf.distribute.Strategy) -> bool:
    """Return whether batches come in stacks, though they be of one."""
    arrays = xray.training_arrays(script)
    stack = next(iter(script.make_batches(strategy, 0)[0]))
    part = xray.local(strategy, tf.nest.flatten(stack)[0])[0]
    return bool(arrays) and part.ndim > arrays[0].ndim


def group_size(steps: int, weights: int) -> int:
    """Return how many steps in a row are one group, whose mean gradient is kept until the end."""
    fitting = GROUP_BYTES // (8 * max(1, weights))
    return math.ceil(steps / min(MOST_GROUPS, max(FEWEST_GROUPS, fitting)))


def measure(
    look: Callable, strategy: tf.distribute.Strategy, stacks: Iterator[tuple], steps: int
) -> dict[str, Any]:
    """Return squared norms and examples, [step, own replica], and the groups' inner products.

    Sums over steps are in float64. Steps that fill no group are left out.
    """
    norms, counts, sums, size = [], [], [], 0
    for number in range(steps):
        squared, examples, means = (xray.local(strategy, part) for part in look(*next(stacks)))
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
    """Return what refuses, once all was measured, weights that have changed."""
    before = xray.hash_copies(strategy, model.trainable_weights)

    def check() -> None:
        if xray.hash_copies(strategy, model.trainable_weights) != before:
            raise SystemExit(
                f"Noise is measured at weights that stand still; the step of {model.name} changed "
                "them past model.optimizer. Have the optimizer apply the gradients."
            )

    return check


def go_to(model: tf.keras.Model, folder: pathlib.Path, step: int) -> None:
    """Take the weights of a checkpoint; 0 are the first weights."""
    if xray.restore(model, folder, step) != step:
        raise SystemExit(
            f"Noise is measured at a checkpoint that is kept; that of step {step} has gone "
            "meanwhile, for the run goes on. Ask again."
        )


def main(run_dir: pathlib.Path, steps: int, in_pass: int, at: str) -> None:
    """Measure at the weights that are asked for and print what was found."""
    script = import_script(run_dir / "train.py")
    script.make_data = functools.cache(script.make_data)  # every pipeline asks for it
    strategy, folder = script.make_strategy(), run_dir / "checkpoints"
    model = xray.make_model(script, strategy)
    kept = kept_steps(folder)
    places = [0, *kept] if at == "all" else kept[-1:]
    meet(strategy, places)
    train_step = xray.without_xla(script, model, script.make_steps(model)[0])
    look = make_look(strategy, train_step, model)
    stacked, told = has_layers(script, strategy), []
    for place in places:
        go_to(model, folder, place)
        check = hold_still(model, strategy)
        first = place % script.STEPS_PER_EPOCH
        first = first if first + steps <= in_pass else 0
        stacks = batches(script, strategy, first, stacked=stacked)
        told.append({"step": place, **measure(look, strategy, stacks, steps)})
        check()
    reply({"at": told})
    meet(strategy, places)  # who ends first may take the others' coordination service along


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
