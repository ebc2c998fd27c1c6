"""The import of a run's script, whose parts the programs use."""

import functools
import importlib.util
import pathlib
import sys
from collections.abc import Callable
from typing import Any

import tensorflow as tf


def import_script(path: pathlib.Path) -> Any:
    """Return a script as a module, with steps and loops that return what is recorded.

    Its `main` does not run.
    """
    script = import_plain(path)
    if hasattr(script, "Recorder"):
        raise SystemExit(
            f"The script {path} was written by an earlier release, with a recorder in it, so its "
            "steps cannot be measured. Start a new run with the same settings."
        )
    _add_parts(script)
    return script


def import_plain(path: pathlib.Path) -> Any:
    """Return a script as a module as it is; its `main` does not run."""
    spec = importlib.util.spec_from_file_location("train", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"The script {path} cannot be imported. Restore it.")
    module = importlib.util.module_from_spec(spec)
    sys.modules["train"] = module  # AutoGraph finds the source through it
    spec.loader.exec_module(module)
    return module


def without_xla(script: Any, model: tf.keras.Model) -> Callable:
    """Return the script's step to train, which also returns what the observer has seen in it.

    It is without XLA, because a compiled step hides its inner values.
    """
    from workbench_observe.rows import reporting

    own = getattr(script, "train_step", None)
    if own is not None and hasattr(own, "python_function"):
        script.train_step = own.python_function
    function, compile_by_xla = tf.function, getattr(script, "compile_by_xla", None)

    def uncompiled(*given: Any, **named: Any) -> Any:
        if not named.get("jit_compile"):
            return function(*given, **named)
        return given[0] if given else lambda each: each

    tf.function = uncompiled
    if compile_by_xla:
        compile_by_xla(lambda: model)()  # replaces the train_step of the user's own model
    train_step, _ = script.own_steps(model)
    tf.function = function
    return reporting(train_step, keeps_gradients=True)


def _add_parts(script: Any) -> None:
    from workbench_observe.kerases import Patches
    from workbench_observe.rows import watch_reports

    watch_reports(Patches())
    script.RUN_EAGERLY = tf.config.functions_run_eagerly()
    stack = getattr(script, "STEPS_PER_STACK", None)
    script.STEPS_PER_STACK = stack or 1
    script.TEST_STEPS = getattr(script, "TEST_STEPS", 1)
    script.STEPS_PER_CALL = script.STEPS_PER_EXECUTION
    steps = _steps_of(script)
    script.make_calls = functools.partial(_make_calls, script, steps)
    script.own_steps = steps
    script.own_loops = getattr(script, "make_loops", None)
    script.make_steps = functools.partial(_recorded_steps, steps)
    script.make_loops = functools.partial(_make_loops, stack)


def _steps_of(script: Any) -> Callable:
    """Return the function that makes the steps of a replica: to train, and to test."""

    def of_model(model: tf.keras.Model) -> list[Callable]:
        script.compile_model(model)
        return [model.train_step, model.test_step]

    own: Callable = getattr(script, "make_steps", of_model)
    return lambda model: own(model)[:2]  # the metrics may follow


def _make_calls(
    script: Any, make_steps: Callable, strategy: Any, model: Any, count: int
) -> Callable:
    """Return a function of an iterator that trains for `count` steps as the script does."""
    if not hasattr(script, "compile_model"):
        train, _ = script.own_loops(strategy, *make_steps(model))
        return lambda data: train(data, tf.constant(count))
    script.STEPS_PER_EXECUTION = count
    recorded, script.make_loops = script.make_loops, script.own_loops  # as the script calls it
    with strategy.scope():
        script.compile_model(model)
    if hasattr(script, "make_train_functions"):
        script.make_train_functions(strategy, model)
    else:
        model.make_train_function()
    script.make_loops = recorded
    return model.train_function


def _recorded_steps(make_steps: Callable, model: Any) -> list[Callable]:
    """Return a replica's steps, which give the sum of losses, right answers and examples."""
    from workbench_observe.rows import reporting

    def recorded(step: Callable) -> Callable:
        return lambda batch: reporting(step)(batch)[-1][:3]

    return [recorded(step) for step in make_steps(model)]


def _make_loops(stack: int | None, strategy: tf.distribute.Strategy, *steps: Callable) -> list:
    """Return a graph function of many steps for each; it returns rows [step, replica, 3].

    If batches of training come in stacks, each step takes a layer of one.
    """

    def on_replicas(step: Callable, *args: Any) -> tf.Tensor:
        return tf.stack(strategy.experimental_local_results(strategy.run(step, args=args)))

    def one_by_one(step: Callable) -> Callable:
        @tf.function
        def run(iterator: Any, count: tf.Tensor) -> tf.Tensor:
            rows = tf.TensorArray(tf.keras.backend.floatx(), size=count)
            for number in tf.range(count):
                rows = rows.write(number, on_replicas(step, next(iterator)))
            return rows.stack()

        return run

    def by_layers(step: Callable) -> Callable:
        def on_layer(batch: Any, layer: tf.Tensor) -> tf.Tensor:
            return step(tf.nest.map_structure(lambda part: part[layer], batch))

        @tf.function
        def run(iterator: Any, count: tf.Tensor) -> tf.Tensor:
            rows = tf.TensorArray(tf.keras.backend.floatx(), size=count)
            for first in tf.range(0, count, stack):
                batch = next(iterator)
                for layer in tf.range(tf.minimum(stack, count - first)):
                    rows = rows.write(first + layer, on_replicas(on_layer, batch, layer))
            return rows.stack()

        return run

    train, *others = steps
    return [by_layers(train) if stack else one_by_one(train), *map(one_by_one, others)]
