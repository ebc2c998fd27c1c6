"""The comparison of two runs: their records show step by step whether they trained the same."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.engine.training import write_run
from tests.machines import LAPTOP
from tests.runs.records.recording import TaskWriter
from tests.runs.run_folders import Runs
from tests.waiting import LIMIT_SECONDS
from workbench.config import RunConfig
from workbench.experiments.agreement import (
    ENOUGH_STEPS,
    Agreement,
    Proof,
    certify,
    compare,
    tolerance,
    trains,
)
from workbench.runs import Run


@pytest.fixture
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(tmp_path_factory.mktemp("runs"))


def finished(runs: Runs, **options: object) -> Run:
    run = runs.start(**options, start_now=True)
    assert run.wait(LIMIT_SECONDS) == "finished"
    return run


def raised_from(step: int, by: float) -> dict[str, str]:
    """Return code that makes the trainer's losses larger from a step on."""
    raised = f"lambda s, r, usual=loss: usual(s, r) + float('{by}')"
    return {str(step): f"globals().update(loss={raised})"}


def test_runs_with_the_same_losses_agree(runs: Runs) -> None:
    found = compare(finished(runs), finished(runs), "float32")
    assert found.holds
    assert found.steps == 60
    assert found.max_loss_difference == 0.0


def test_the_first_step_that_differs_by_more_than_rounding_is_named(runs: Runs) -> None:
    found = compare(finished(runs, code=raised_from(20, 0.5)), finished(runs), "float32")
    assert not found.holds
    assert found.reason == "loss differs by 5.0e-01, first at step 21"
    assert found.max_loss_difference == pytest.approx(0.5, abs=1e-4)


def test_a_loss_that_is_not_finite_never_agrees(runs: Runs) -> None:
    for number in ("nan", "inf"):
        odd = finished(runs, code=raised_from(20, float(number)))
        for reference in (finished(runs), odd):
            found = compare(odd, reference, "float32")
            assert not found.holds
            assert found.reason == "loss is not finite, first at step 21"
            assert found.max_loss_difference is None


def test_runs_with_different_numbers_of_steps_cannot_be_compared(runs: Runs) -> None:
    found = compare(finished(runs, steps=30), finished(runs), "float32")
    assert found.reason == "30 steps recorded, the reference has 60"
    assert found.max_loss_difference is None


def test_double_precision_has_a_smaller_tolerance(runs: Runs) -> None:
    assert tolerance("float64") < tolerance("float32")


def recorded(root: Path, losses: Any, **fields: Any) -> Run:
    """Return a run on one device that has recorded these losses."""
    config = RunConfig(strategy="one_device", epochs=1, steps_per_epoch=len(losses), **fields)
    run = write_run(root, "recorded", config).run
    rows = np.stack([4 * np.asarray(losses), np.ones(len(losses)), np.full(len(losses), 4)], axis=1)
    task = TaskWriter(run.dir / "worker-0", replicas=1)
    task.add_steps(0, 0, rows[:, None, :].astype(np.float32))
    task.add_calls(0, 0, [0, len(losses), 100.0, 0.5])
    return run


@pytest.mark.parametrize(
    ("losses", "reason"),
    [
        (np.linspace(1.0, 0.5, ENOUGH_STEPS), ""),
        (np.linspace(0.5, 1.0, ENOUGH_STEPS), "loss went from 0.5227 to 0.9773"),
        (np.full(ENOUGH_STEPS, 0.7), "loss went from 0.7000 to 0.7000"),
        (np.full(ENOUGH_STEPS, np.nan), "loss went from nan to nan"),
        (np.linspace(0.5, 1.0, ENOUGH_STEPS - 1), ""),
    ],
)
def test_a_run_trains_if_its_loss_falls_or_the_steps_are_too_few_to_judge(
    losses: Any, reason: str, tmp_path: Path
) -> None:
    assert trains(recorded(tmp_path, losses)) == reason


def test_a_run_with_an_unrecorded_step_does_not_train(tmp_path: Path) -> None:
    run = write_run(tmp_path, "empty", RunConfig(steps_per_epoch=20, epochs=1)).run
    assert trains(run) == "0 steps recorded of 20"


def certificate(root: Path, float32_loss_difference: float | None = None, **fields: Any) -> Any:
    """Return a run's certificate after a conversion to JSON and back."""
    reference = write_run(root, "standard", RunConfig(strategy="one_device")).run
    run = write_run(root, "run", RunConfig(**fields)).run
    together = run.plan.synchronous
    found = Agreement(20, run.config.precision, *((1e-7, 2e-7) if together else ()))
    proof = Proof(run, reference, found, "abc", {"tensorflow": "2.21.0"}, {})
    return json.loads(json.dumps(proof.certificate(float32_loss_difference), allow_nan=False))


def test_a_certificate_names_the_compared_runs_and_their_environment(tmp_path: Path) -> None:
    values = certificate(tmp_path, strategy="mirrored", loop="fit", seed=7)
    assert values["claim"] == "Mirrored, fit loop, trains like OneDevice, custom loop"
    assert (values["run"], values["standard"]) == ("run", "standard")
    assert values["devices"] == {
        "replicas": ["CPU:0", "CPU:1"], "virtual": True, "cpu": LAPTOP.cpu_model, "gpus": [],
    }  # fmt: skip
    assert values["versions"] == {"tensorflow": "2.21.0", "keras": LAPTOP.keras_version}
    assert (values["seed"], values["data"], values["data_sha256"]) == (7, "synthetic", "abc")
    assert (values["max_loss_difference"], values["max_weight_difference"]) == (1e-7, 2e-7)
    assert (values["precision"], values["tolerance"]) == ("float32", tolerance("float32"))
    assert "note" not in values


def test_a_certificate_in_double_precision_has_the_difference_in_single_precision(
    tmp_path: Path,
) -> None:
    values = certificate(tmp_path, float32_loss_difference=0.026, precision="float64")
    assert (values["precision"], values["tolerance"]) == ("float64", tolerance("float64"))
    assert values["float32_max_loss_difference"] == 0.026
    assert "rounding errors in float32 grow from step to step" in values["note"]
    assert values["note"].endswith("Agreement is proved in float64.")


def test_a_certificate_of_asynchronous_workers_claims_no_agreement(tmp_path: Path) -> None:
    values = certificate(tmp_path, strategy="parameter_server", loop="fit")
    assert values["claim"] == (
        "ParameterServer, fit loop, every step recorded; its workers train asynchronously"
    )
    assert values["versions"] == {"tensorflow": "2.21.0", "tf-keras": LAPTOP.tf_keras_version}
    assert values["tasks"] == ["chief-0", "worker-0", "worker-1", "ps-0"]
    compared = ("standard", "tolerance", "max_loss_difference", "max_weight_difference")
    assert [values[name] for name in (*compared, "global_batch_size")] == [None] * 5
    assert (values["steps"], values["data_sha256"]) == (20, "abc")


@pytest.mark.slow
def test_the_hash_depends_only_on_the_data(tmp_path: Path) -> None:
    changed: dict[str, dict[str, Any]] = {
        "standard": {"strategy": "one_device"},
        "strategy": {"strategy": "mirrored", "loop": "fit", "epochs": 2},
        "apart": {"strategy": "parameter_server", "loop": "fit"},
        "seed": {"seed": 43},
        "noise": {"synthetic_noise": 0.2},
        "size": {"synthetic_examples": 10_005},
    }
    runs = {name: write_run(tmp_path, name, RunConfig(**f)).run for name, f in changed.items()}
    proofs = certify(runs["standard"], list(runs.values()))
    hashes = {name: proofs[str(run.dir)].data_sha256 for name, run in runs.items()}
    assert hashes["standard"] == hashes["strategy"] == hashes["apart"]
    assert len(set(hashes.values())) == 4
    reasons = {name: proofs[str(run.dir)].agreement.reason for name, run in runs.items()}
    assert all(
        reasons[name] == "it was trained on other data" for name in ("seed", "noise", "size")
    )
