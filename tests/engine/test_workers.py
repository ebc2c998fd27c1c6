"""Workers that step together with real TensorFlow give the losses of one device."""

import functools
from collections.abc import Callable
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from tests.engine.tasks import run_workers, train_workers
from tests.engine.training import Trained, train_together, weights, write_run
from tests.forked import run_program
from tests.runs.run_folders import event_of
from workbench.config import RunConfig
from workbench.runs.programs.noise import measure_gradients
from workbench.runs.programs.step_xray import StepXray

pytestmark = pytest.mark.slow

LOOPS = ("custom", "fit")
STEPS, EPOCHS, BATCH = 60, 2, 32
FIELDS = {"epochs": EPOCHS, "global_batch_size": BATCH, "synthetic_examples": STEPS * BATCH}
Alone = Callable[[str], Trained]
WORKERS = {**FIELDS, "strategy": "multi_worker_mirrored", "steps_per_call": 1}


@pytest.fixture(scope="module")
def one_device(root: Path) -> Trained:
    return train_together(root, {"one": RunConfig(**FIELDS, strategy="one_device")})["one"]


@pytest.fixture(scope="module")
def alone(root: Path) -> Alone:
    """Return a function that gives, for each loop, workers started without a supervisor."""

    @functools.cache
    def of(loop: str) -> Trained:
        trained = write_run(root, loop, RunConfig(**WORKERS, loop=loop))
        train_workers(trained)
        assert trained.events("finished")[0]["step"] == STEPS * EPOCHS
        return trained

    return of


@pytest.mark.parametrize("loop", ["custom", pytest.param("fit", marks=pytest.mark.promise)])
def test_two_workers_give_the_losses_of_one_device(
    loop: str, alone: Alone, one_device: Trained
) -> None:
    run = alone(loop)
    np.testing.assert_allclose(run.losses(), one_device.losses(), rtol=0, atol=1e-6)
    assert run.examples() == [[BATCH // 2] * 2] * (STEPS * EPOCHS)
    names = ["test_loss", "test_accuracy"]
    np.testing.assert_allclose(
        run.run.epochs()[names], one_device.run.epochs()[names], rtol=0, atol=2e-6
    )
    np.testing.assert_allclose(weights(run.run), weights(one_device.run), rtol=0, atol=1e-6)


def test_the_saved_model_gives_the_same_test_results_without_a_strategy(
    alone: Alone,
) -> None:
    run = alone("fit").run
    event, found = event_of(run, "epoch"), run.evaluate()
    assert event is not None
    assert found["test_accuracy"] == pytest.approx(event["test_accuracy"], abs=1e-5)
    assert found["test_loss"] == pytest.approx(event["test_loss"], abs=1e-5)


@pytest.mark.parametrize("loop", LOOPS)
def test_an_xray_shows_a_step_of_several_workers_as_one_step(
    loop: str, alone: Alone, one_device: Trained
) -> None:
    step = STEPS + 5
    xray, whole = (trained.run.xray(step) for trained in (alone(loop), one_device))
    assert isinstance(xray, StepXray)
    assert isinstance(whole, StepXray)
    assert xray.agrees is True
    assert xray.started_at_step == STEPS
    assert [each.task for each in xray.replicas] == ["worker-0", "worker-1"]
    assert xray.replicas[1].name == "worker 1, replica 1"
    rows = chain(*(each.rows or [] for each in xray.replicas))
    assert list(rows) == whole.replicas[0].rows
    assert xray.sum_norm == pytest.approx(whole.sum_norm, rel=1e-5)
    weights = xray.weights
    assert [copy.task for copy in weights.after] == ["worker-0", "worker-1"]
    assert (weights.equal, weights.changed, weights.differing) == (True, True, [])


def test_gradients_of_several_workers_at_one_checkpoint_are_those_of_one_device(
    alone: Alone, one_device: Trained
) -> None:
    (workers,), (whole,) = (
        measure_gradients(trained.run.dir, 8) for trained in (alone("fit"), one_device)
    )
    assert workers.step == whole.step == STEPS * EPOCHS
    assert (workers.squared_norms.shape, workers.per_replica_batch_size) == ((8, 2), BATCH // 2)
    np.testing.assert_allclose(workers.products, whole.products, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("loop", LOOPS)
def test_a_script_trains_and_continues_alone_with_tensorflow_only(
    loop: str, root: Path, tmp_path: Path
) -> None:
    script = write_run(root, f"plain-{loop}", RunConfig(**WORKERS, loop=loop)).run.dir / "train.py"
    text = script.read_text().replace("EPOCHS = 2", "EPOCHS = 1")
    (tmp_path / "train.py").write_text(text)
    result = {"custom": "epoch ", "fit": f"{STEPS}/{STEPS} - "}[loop]  # the line of an epoch
    for epochs, command in {1: tmp_path / "train.py", 2: script}.items():
        both = run_workers([command], tmp_path)
        for done in both:
            assert done.stdout.count(result) == 1, epochs
        assert (tmp_path / "run" / "model.keras").is_file()
    assert not any(line.startswith("epoch 1:") for line in both[0].stdout.splitlines())


def test_a_script_without_the_addresses_of_all_its_workers_says_what_it_needs(
    root: Path, tmp_path: Path
) -> None:
    script = write_run(root, "unnamed", RunConfig(**WORKERS)).run.dir / "train.py"
    named = {1: run_workers([script], tmp_path, 1, check=False)[0]}
    named[0] = run_program([script], tmp_path, check=False)
    for count, done in named.items():
        assert done.returncode == 1
        assert f"TF_CONFIG with 2 workers, not {count}. Set it" in done.stderr
        assert "workbench run --script train.py" in done.stderr
