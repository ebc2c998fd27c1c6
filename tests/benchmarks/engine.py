"""The workbench's side: rendered scripts, imported as modules and run as by their `main`."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

from workbench import RunConfig, make_plan, render_script
from workbench.devices import detect


def two_cpu_replicas(**fields: Any) -> RunConfig:
    """Return a config for Mirrored on two virtual replicas of the CPU."""
    return RunConfig(strategy="mirrored", devices=("CPU:0",), replicas=2, **fields)


def mlp(**fields: Any) -> RunConfig:
    """Return the config of the tutorial's job (a), 32 examples per replica."""
    return two_cpu_replicas(data="synthetic", model="mlp", per_replica_batch_size=32, **fields)


def cnn(**fields: Any) -> RunConfig:
    """Return the config of the tutorial's job (b), 16 examples per replica."""
    return two_cpu_replicas(data="fashion_mnist", model="cnn", per_replica_batch_size=16, **fields)


def load_script(config: RunConfig, folder: Path) -> ModuleType:
    """Return the script of a config as a module; its `main` has not run."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "train.py"
    path.write_text(render_script(make_plan(config, detect(import_tensorflow=False))))
    spec = importlib.util.spec_from_file_location(f"script_{folder.name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # AutoGraph finds the source through it
    spec.loader.exec_module(module)
    return module


class Engine:
    """The objects of a script's `main`: strategy, model, recorder, data, loops, ready to train."""

    def __init__(self, config: RunConfig, folder: Path, strategy: Any = None) -> None:
        self.script = load_script(config, folder)
        self.strategy = strategy or self.script.make_strategy()
        with self.strategy.scope():
            self.model = make_model(self.script)
        self.recorder = recorder(self.script, self.strategy, self.model, folder)
        self.train_data, _ = self.script.make_batches(self.strategy, 0)
        self.steps = self.script.make_steps(self.model)
        self.train_steps, _ = self.script.make_loops(self.strategy, *self.steps)


def make_model(script: ModuleType, **options: Any) -> Any:
    """Make and compile a script's model and build its optimizer, in the scope of a strategy."""
    model = script.make_model()
    model.compile(optimizer=script.make_optimizer(), loss=model.loss, **options)
    model.optimizer.build(model.trainable_variables)
    return model


def recorder(script: ModuleType, strategy: Any, model: Any, folder: Path | None) -> Any:
    """Return a recorder that writes real files into `folder`; without a folder it writes none."""
    before = sys.argv
    sys.argv = ["train.py", *(["--run-dir", str(folder)] if folder else [])]
    try:
        with contextlib.redirect_stdout(sys.stderr):
            made = script.Recorder()
            made.restore(strategy, model)
            return made
    finally:
        sys.argv = before


def train_custom(engine: Engine, iterator: Any, epochs: int, steps: int) -> float:
    """Train and record steps as `main` does, without tests and checkpoints; return the seconds."""
    began = time.perf_counter()
    for _ in range(epochs):
        engine.recorder.train(engine.train_steps, iterator, steps)
    return time.perf_counter() - began
