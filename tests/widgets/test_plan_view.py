"""The plan on the page: who trains, with which Keras, and the TF_CONFIG of each task."""

from __future__ import annotations

import dataclasses
import html
from pathlib import Path
from typing import Any

import pytest

from tests.machines import LAPTOP
from tests.waiting import until
from workbench import RunConfig, make_plan
from workbench.widgets.form.form import Form
from workbench.widgets.plan_view import PlanView, _what_shapes_the_model

OWN = f"{Path(__file__).parents[1] / 'engine' / 'own_models.py'}:plain"


def shown(strategy: str, **asked: Any) -> PlanView:
    """The view of a plan; the model is not measured."""
    view = PlanView()
    view.show(Form(RunConfig(strategy=strategy, **asked), LAPTOP).state)
    view._inspecting.forget()
    return view


def test_one_process_has_no_tf_config() -> None:
    view = shown("mirrored")
    assert view._tasks.box.layout.display == "none"
    assert "2, virtual" in view._numbers.value
    assert f"Keras {LAPTOP.keras_version}" in view._numbers.value


def test_several_tasks_are_named_each_with_its_tf_config() -> None:
    view = shown("parameter_server")
    assert view._tasks.box.layout.display is None
    assert "chief-0, worker-0, worker-1, ps-0" in view._numbers.value
    assert "2 workers x 1 replica, which share CPU:0" in view._numbers.value
    configs = html.unescape(view._configs.value)
    assert '"worker": ["localhost:<chosen at start>", "localhost:<chosen at start>"]' in configs
    assert '"task": {"type": "ps", "index": 0}' in configs


def test_the_text_of_a_job_is_shown_before_it_is_submitted() -> None:
    script = html.unescape(
        shown("parameter_server", launcher="slurm", partition="gpu")._job_text.value
    )
    assert "#SBATCH --partition=gpu" in script
    assert "srun" in script
    pods = {"launcher": "kubernetes", "container": "image", "volume_claim": "runs"}
    view = shown("multi_worker_mirrored", **pods)
    assert "kind: Job" in view._job_text.value
    assert view._job.box.layout.display is None
    for launcher in ("local", "ray"):
        view = shown("multi_worker_mirrored", launcher=launcher)
        assert view._job.box.layout.display == "none"


@pytest.mark.parametrize(
    ("asked", "host", "runs_on"),
    [
        (
            {"launcher": "slurm", "nodes": 2, "partition": "gpu", "cpus_per_task": 4}
            | {"gpus_per_task": 1},
            "chosen by Slurm",
            "Slurm, 2 nodes, partition gpu, 4 CPUs and 1 GPU per task",
        ),
        ({"launcher": "slurm"}, "chosen by Slurm", "Slurm"),
        (
            {"launcher": "ray", "ray_address": "10.0.0.1:6379"},
            "chosen by Ray",
            "Ray, cluster 10.0.0.1:6379",
        ),
        (
            {"launcher": "kubernetes", "container": "image", "volume_claim": "runs"},
            "chosen by Kubernetes",
            "Kubernetes",
        ),
    ],
)
def test_the_tasks_of_a_job_are_planned_on_the_hosts_of_its_engine(
    asked: dict[str, Any], host: str, runs_on: str
) -> None:
    view = shown("multi_worker_mirrored", **asked)
    configs = html.unescape(view._configs.value)
    assert f'"worker": ["<{host}>:<chosen at start>", ' in configs
    assert "localhost" not in configs
    assert "Hosts and ports are chosen when the run starts" in configs
    assert f">{runs_on}<" in view._numbers.value


def test_a_plan_for_this_machine_names_no_engine() -> None:
    assert "Runs on" not in shown("multi_worker_mirrored")._numbers.value


def test_the_other_keras_is_named() -> None:
    view = shown("parameter_server", loop="fit")
    assert f"tf-keras {LAPTOP.tf_keras_version}" in view._numbers.value


@pytest.mark.parametrize(
    ("field", "value", "measured_again"),
    [
        ("precision", "float64", True),
        ("optimizer", "sgd", True),
        ("replicas", 4, True),
        ("synthetic_features", 20, True),
        ("epochs", 9, False),
        ("learning_rate", 0.1, False),
    ],
)
def test_the_model_is_measured_again_if_its_size_may_differ(
    field: str, value: Any, measured_again: bool
) -> None:
    plans = [make_plan(RunConfig(**asked), LAPTOP) for asked in ({}, {field: value})]
    before, after = map(_what_shapes_the_model, plans)
    assert (before != after) is measured_again


@pytest.mark.parametrize(
    ("field", "value"),
    [("loop", "fit"), ("last_batch", "keep"), ("clip_norm", 1.0), ("xla", True)],
)
def test_a_model_of_the_user_is_asked_again_if_its_train_step_may_not_fit_a_field(
    field: str, value: Any
) -> None:
    for model, asked_again in ((OWN, True), ("mlp", False)):
        plans = [
            make_plan(RunConfig(model=model, **asked), LAPTOP) for asked in ({}, {field: value})
        ]
        before, after = map(_what_shapes_the_model, plans)
        assert (before != after) is asked_again


def test_without_tensorflow_the_plan_is_shown_and_nothing_is_measured() -> None:
    machine = dataclasses.replace(LAPTOP, tensorflow_version=None)
    view = PlanView()
    view.show(Form(RunConfig(), machine).state)
    assert "2, virtual" in view._numbers.value
    assert "measured once its interpreter has TensorFlow" in view._model.value
    assert view._measured is None


@pytest.mark.slow
def test_the_problem_of_a_model_is_shown_beside_its_field_with_each_plan_of_this_model(
    tmp_path: Path,
) -> None:
    (tmp_path / "mine.py").write_text("def build():\n    raise ValueError('no such layer')\n")
    form, view = Form(RunConfig(), LAPTOP), PlanView()
    view.on_refused(form.show_refused)
    form.on_change(view.show)
    model, epochs = form.parts.named("model", "epochs")
    model.write(f"{tmp_path / 'mine.py'}:build")
    until(lambda: "no such layer" in model.problems)
    epochs.write(9)
    assert form.state.problems == ()
    assert "no such layer" in model.problems
    model.write("mlp")
    assert model.problems == ""


def test_the_plan_notes_that_one_device_sums_the_gradients() -> None:
    assert "ReductionToOneDevice" in shown("mirrored")._batch.value
    assert "ReductionToOneDevice" not in shown("one_device")._batch.value
