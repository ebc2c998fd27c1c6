"""The workbench's side: rendered scripts, imported as modules and run as by their `main`."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import tensorflow as tf

from tests.engine.tasks import cluster_variables
from workbench import RunConfig, make_plan, render_script
from workbench.devices import detect
from workbench.observe.watch import Watch
from workbench.runs.processes.environment import Launch
from workbench.runs.programs.own_data import inspect_data

Train = Callable[[int], object]


def two_cpu_replicas(**fields: Any) -> RunConfig:
    """Return a config for Mirrored on two virtual replicas of the CPU."""
    return RunConfig(strategy="mirrored", devices=("CPU:0",), replicas=2, **fields)


def mlp(per_replica_batch_size: int = 32, **fields: Any) -> RunConfig:
    """Return the config of the tutorial's job (a)."""
    fields["per_replica_batch_size"] = per_replica_batch_size
    return two_cpu_replicas(data="synthetic", model="mlp", **fields)


def cnn(**fields: Any) -> RunConfig:
    """Return the config of the tutorial's job (b), 16 examples per replica."""
    return two_cpu_replicas(data="fashion_mnist", model="cnn", per_replica_batch_size=16, **fields)


def load_script(config: RunConfig, folder: Path) -> ModuleType:
    """Return the script of a config as a module; its `main` has not run."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "train.py"
    inspect_data(config)  # Keras finds the files of Fashion-MNIST
    path.write_text(render_script(make_plan(config, detect(import_tensorflow=False))))
    spec = importlib.util.spec_from_file_location(f"script_{folder.name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # AutoGraph finds the source through it
    spec.loader.exec_module(module)
    return module


class Engine:
    """The training of a script: alone, and under an observer that writes into a folder.

    With `scalars`, each step of the custom loop also gives so many numbers to metrics. The workers
    and the parameter server of a coordinator are servers in this process.
    """

    def __init__(self, config: RunConfig, folder: Path, scalars: int = 0) -> None:
        self.scalars, self.script = scalars, load_script(config, folder)
        workers = self.script.WORKERS if config.strategy == "parameter_server" else 0
        # As a run starts: TensorFlow reads it when it opens its devices.
        launch = Launch(sys.executable, folder, cpu_replicas=config.replicas or 1)
        os.environ |= launch.environment()
        if workers:
            self.make = self._lead()
        else:
            self.strategy = self.script.make_strategy()
            self.batches, _ = self.script.make_batches(self.strategy, 0)
            self.make = self.fit if config.loop == "fit" else self.loop
        self.alone = self.make()
        self.alone(1)  # traced before anything is watched
        task = "chief-0" if workers else "worker-0"
        (folder / task).mkdir()
        norms = config.gradient_norms
        self.watch = Watch(folder, task, threading.Event(), measures_norms=norms)
        if workers:
            self.watch.lead(workers)
        self.observed = self.make()

    def loop(self, batches: Any = None) -> Train:
        """Return a function that trains for some steps with the script's own loop.

        `batches` is an iterator; None: of the script's batches.
        """
        with self.strategy.scope():
            model = self.script.make_model()
            model.optimizer.build(model.trainable_variables)
        with self.strategy.scope():
            others = [tf.keras.metrics.Mean(f"number_{at}") for at in range(self.scalars)]
        train_step, test_step, *_ = self.script.make_steps(model)

        def step(batch: Any) -> None:
            train_step(batch)
            for at, metric in enumerate(others):
                metric.update_state(tf.reduce_mean(model.trainable_weights[-1][at:]))

        train, _ = self.script.make_loops(self.strategy, step, test_step)
        iterator = iter(self.batches) if batches is None else batches
        most = self.script.STEPS_PER_EXECUTION

        def run(steps: int) -> None:
            for first in range(0, steps, most):
                train(iterator, tf.constant(min(most, steps - first)))

        return run

    def fit(self, steps_per_execution: int | None = None) -> Train:
        """Return a function that trains for some steps with Keras `fit`."""
        with self.strategy.scope():
            model = self.script.make_model()
            model.optimizer.build(model.trainable_variables)
        model.compile(
            model.optimizer,
            loss=model.loss,
            metrics=[self.script.ACCURACY("accuracy")],
            steps_per_execution=steps_per_execution or self.script.STEPS_PER_EXECUTION,
            jit_compile=False,
        )

        def run(steps: int) -> None:
            model.fit(self.batches, steps_per_epoch=steps, epochs=1, shuffle=False, verbose=0)

        return run

    def _lead(self) -> Callable[[], Train]:
        """Start the servers; return what makes a training that schedules its steps on them."""
        self.ports = contextlib.ExitStack()  # held to the end
        names = self.ports.enter_context(cluster_variables(self.script.TASKS))
        os.environ |= names[0]  # of the chief
        cluster = tf.train.ClusterSpec(json.loads(names[0]["TF_CONFIG"])["cluster"])
        threads = tf.compat.v1.ConfigProto(inter_op_parallelism_threads=self.script.WORKERS + 2)
        self.servers = [
            tf.distribute.Server(cluster, kind, number, protocol="grpc", config=threads)
            for kind in ("worker", "ps")
            for number in range(self.script.TASKS[kind])
        ]
        self.strategy = self.script.make_strategy()
        coordinator = tf.distribute.coordinator.ClusterCoordinator(self.strategy)
        make_worker_batches, _ = self.script.make_batches()
        make_dataset = functools.partial(make_worker_batches, 0)
        batches = iter(coordinator.create_per_worker_dataset(make_dataset))

        def make() -> Train:
            with self.strategy.scope():
                model = self.script.make_model()
                model.optimizer.build(model.trainable_variables)
            train = self.script.make_loop(self.strategy, self.script.make_step(model))
            most = self.script.STEPS_PER_EXECUTION

            def run(steps: int) -> None:
                for first in range(0, steps, most):
                    count = tf.constant(min(most, steps - first))
                    coordinator.schedule(train, args=(batches, count))
                coordinator.join()

            return run

        return make

    @contextlib.contextmanager
    def unwatched(self) -> Iterator[None]:
        """Take the observer's wraps off during a block."""
        originals = self.watch.patches.originals
        wraps = [(owner, name, vars(owner)[name]) for owner, name, _ in originals]
        for owner, name, original in reversed(originals):
            setattr(owner, name, original)
        try:
            yield
        finally:
            for owner, name, wrap in wraps:
                setattr(owner, name, wrap)


def rate_of(train: Train, steps: int) -> float:
    """Return the steps per second of a training."""
    began = time.perf_counter()
    train(steps)
    return steps / (time.perf_counter() - began)
