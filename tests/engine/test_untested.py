"""Training on data with nothing to test on: no test pass, and results of the training alone."""

from pathlib import Path

import numpy as np
import pytest

from tests.engine.tasks import run_workers
from tests.engine.training import Trained, train_together, weights, write_run
from tests.machines import LAPTOP
from tests.waiting import LIMIT_SECONDS
from workbench.config import RunConfig
from workbench.experiments.searching.batch_finder import find_batch_size
from workbench.plan import PlanError, make_plan
from workbench.runs import RunError, start_run
from workbench.runs.programs.own_data import inspect_data

pytestmark = pytest.mark.slow

FILE = Path(__file__).parent / "own_forms.py"
MODELS = {
    "features_to_train": "untested",
    "weighted_to_train": "classifier",
    "dataset_to_train": "untested",
    "batches_to_train": "untested",
}
"""Data without tests, each with a model; one can take no test step."""
LOOPS = ("custom", "fit")
LONG = {"steps_per_epoch": 400, "steps_per_call": 1, "epochs": 2}


def config(data: str, **fields: object) -> RunConfig:
    sizes = {"global_batch_size": 32, "epochs": 3}
    model = f"{FILE}:{MODELS.get(data, 'classifier')}"
    return RunConfig(data=f"{FILE}:{data}", model=model, **{**sizes, **fields})


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trained]:
    configs = {f"{data}-{loop}": config(data, loop=loop) for data in MODELS for loop in LOOPS}
    stopped = [f"{loop}-resumed" for loop in LOOPS]
    for loop in LOOPS:
        for end in ("", "-resumed"):
            configs[f"{loop}{end}"] = config("dataset_to_train", loop=loop, **LONG)
        configs[f"{loop}-split"] = config("weighted_to_train", loop=loop, validation_split=0.2)
        configs[f"{loop}-two-parts"] = config("weighted_in_two", loop=loop)
    return train_together(tmp_path_factory.mktemp("untested"), configs, stopped=stopped)


@pytest.mark.parametrize("data", MODELS)
def test_both_loops_train_alike_and_report_no_test(data: str, runs: dict[str, Trained]) -> None:
    custom, fit = (runs[f"{data}-{loop}"] for loop in LOOPS)
    assert custom.status == fit.status == 0, custom.log + fit.log
    np.testing.assert_allclose(fit.losses(), custom.losses(), rtol=0, atol=1e-6)
    for run in (custom, fit):
        assert run.events("test") == []
        epochs = run.run.epochs()
        assert np.isfinite(epochs["loss"]).all()
        assert epochs[["test_loss", "test_accuracy"]].isna().all(axis=None)


@pytest.mark.parametrize("loop", LOOPS)
def test_a_run_that_was_stopped_goes_on_exactly(loop: str, runs: dict[str, Trained]) -> None:
    whole, resumed = runs[loop], runs[f"{loop}-resumed"]
    assert len(resumed.events("stopped")) == 1
    np.testing.assert_array_equal(resumed.losses(), whole.losses())
    np.testing.assert_array_equal(weights(resumed.run), weights(whole.run))
    np.testing.assert_array_equal(*(each.run.epochs()["loss"] for each in (resumed, whole)))


@pytest.mark.parametrize("loop", LOOPS)
def test_a_validation_split_trains_and_tests_as_if_the_function_divided_the_arrays(
    loop: str, runs: dict[str, Trained]
) -> None:
    split, two_parts = (runs[f"{loop}-{data}"] for data in ("split", "two-parts"))
    assert split.status == two_parts.status == 0, split.log + two_parts.log
    np.testing.assert_array_equal(split.losses(), two_parts.losses())
    columns = ["loss", "accuracy", "test_loss", "test_accuracy"]
    found, expected = (each.run.epochs()[columns] for each in (split, two_parts))
    assert np.isfinite(found).all(axis=None)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("loop", LOOPS)
def test_asynchronous_workers_train_without_tests(loop: str, root: Path) -> None:
    of_tf_keras = FILE.with_name("own_data_sets.py")
    fields = RunConfig(
        data=f"{of_tf_keras}:one_part_and_none", model=f"{of_tf_keras}:classifier", loop=loop,
        strategy="parameter_server", per_replica_batch_size=32, epochs=3, start_now=True,
    )  # fmt: skip
    run = start_run(fields, root, LAPTOP)
    assert run.wait(LIMIT_SECONDS) == "finished", run.log()
    assert [event for event in run.events() if event["event"] == "test"] == []
    assert run.epochs()["test_loss"].isna().all()
    assert len(run.epochs()) == run.plan.epochs
    assert len(run.steps()) == run.plan.total_steps


def test_the_batch_finder_tries_no_test() -> None:
    found = find_batch_size(config("batches_to_train", global_batch_size=None), devices=LAPTOP)
    assert found.ended == "data"
    assert all(each.fits for each in found.trials)


def test_two_workers_know_the_results_of_each_epoch(
    tmp_path: Path, runs: dict[str, Trained]
) -> None:
    together = Path(__file__).parent / "workers_together.py"
    for loop in LOOPS:
        fields = config("features_to_train", strategy="multi_worker_mirrored", loop=loop)
        trained = write_run(tmp_path, loop, fields)
        run_workers([together, trained.run.dir], tmp_path)
        found, one = (
            each.run.epochs()["loss"] for each in (trained, runs[f"features_to_train-{loop}"])
        )
        np.testing.assert_allclose(found, one, rtol=0, atol=2e-6)


def test_a_saved_model_is_not_evaluated(runs: dict[str, Trained]) -> None:
    with pytest.raises(RunError, match="its data has nothing to test on"):
        runs["features_to_train-custom"].run.evaluate()


def test_an_evaluator_is_refused() -> None:
    fields = config("weighted_to_train", strategy="parameter_server", evaluator=True)
    with pytest.raises(PlanError, match="nothing to test on"):
        make_plan(fields, LAPTOP, inspect_data(fields))
