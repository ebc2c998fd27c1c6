"""The form: it opens ready to train, links the batch sizes, and shows all problems together."""

from __future__ import annotations

import dataclasses
import html
import re
import threading
from typing import Any

import pytest

from tests.machines import FOUR_GPUS, LAPTOP
from tests.waiting import LIMIT_SECONDS, until
from workbench import RunConfig, catalog
from workbench.fields import BATCH_SIZES
from workbench.plan import Problem
from workbench.widgets.form.form import Form, FormState


@pytest.fixture
def form() -> Form:
    return Form(catalog.PRESETS["mlp_synthetic"].config, LAPTOP)


def control(form: Form, name: str) -> Any:
    fields = {field.name: field for field in (*form.parts.all, *form.parts.batch.fields)}
    return fields[name].control


def problem_beside(form: Form, name: str) -> str:
    fields = {field.name: field for field in (*form.parts.all, *form.parts.batch.fields)}
    return fields[name].problems


def test_opens_on_two_virtual_replicas_without_gpus(form: Form) -> None:
    assert form.state.problems == ()
    assert form.state.plan is not None
    assert form.state.plan.num_replicas_in_sync == 2
    assert form.state.plan.virtual


def test_opens_on_all_gpus_if_there_are_several() -> None:
    plan = Form(RunConfig(), FOUR_GPUS).state.plan
    assert plan is not None
    assert plan.physical_devices == ("GPU:0", "GPU:1", "GPU:2", "GPU:3")
    assert not plan.virtual


def test_shows_every_field_of_a_config_with_help(form: Form) -> None:
    shown = {field.name for field in form.parts.all} | set(BATCH_SIZES)
    assert shown == set(RunConfig.__dataclass_fields__)
    for field in (*form.parts.all, *form.parts.batch.fields):
        assert 'role="tooltip"' in field._help.value, field.name


def test_reads_back_what_it_shows() -> None:
    config = RunConfig(
        name="a 'name'",
        loop="fit",
        data="fashion_mnist",
        model="dense",
        devices=("CPU:0",),
        replicas=4,
        cross_device_ops="hierarchical_copy",
        gpu_memory=512,
        global_batch_size=256,
        last_batch="repeat",
        pipeline="indexed",
        epochs=3,
        steps_per_epoch=7,
        optimizer="momentum",
        learning_rate=0.05,
        learning_rate_scaling="linear",
        steps_per_call=5,
        eager=False,
        seed=7,
        synthetic_noise=0.25,
        start_now=True,
    )
    assert Form(config, LAPTOP).state.config == config


def test_the_batch_size_typed_last_leads(form: Form) -> None:
    each, joined = control(form, "per_replica_batch_size"), control(form, "global_batch_size")
    each.value = "32"
    assert joined.value == "64"
    joined.value = "100"
    assert each.value == "50"
    assert form.state.config.per_replica_batch_size is None
    control(form, "replicas").value = "4"
    assert (each.value, joined.value) == ("25", "100")
    each.value = "10"
    assert joined.value == "40"


def test_an_emptied_batch_size_stays_empty_and_shows_the_plans_size_as_its_placeholder(
    form: Form,
) -> None:
    each, joined = control(form, "per_replica_batch_size"), control(form, "global_batch_size")
    each.value = "64"
    each.value = ""
    assert (each.value, each.placeholder) == ("", "64")
    assert (joined.value, joined.placeholder) == ("", "128")
    assert form.state.plan is not None
    each.value = "8"
    assert joined.value == "16"
    joined.value = ""
    assert (joined.value, joined.placeholder) == ("", "16")
    assert form.state.config.per_replica_batch_size == 8
    joined.value = "4"
    assert each.value == "2"
    each.value = ""
    control(form, "strategy").value = "parameter_server"
    assert form.state.config.per_replica_batch_size == 2


def test_an_indivisible_global_batch_gets_the_nearest_sizes_next_to_its_field(form: Form) -> None:
    control(form, "global_batch_size").value = "65"
    assert form.state.plan is None
    assert "64 or 66" in problem_beside(form, "global_batch_size")
    control(form, "global_batch_size").value = "66"
    assert problem_beside(form, "global_batch_size") == ""


def test_all_problems_are_shown_together_next_to_their_fields(form: Form) -> None:
    control(form, "epochs").value = "many"
    control(form, "learning_rate").value = "0"
    control(form, "global_batch_size").value = "65"
    wrong = {problem.field for problem in form.state.problems}
    assert wrong == {"epochs", "learning_rate", "global_batch_size"}
    assert form.state.plan is None
    for name in wrong:
        assert "Problem" in problem_beside(form, name)
    reason = form.reason
    assert reason == "Fix Epochs, Learning rate, Global batch to train."


def test_a_size_that_fits_no_memory_has_the_largest_one_beside_its_field(form: Form) -> None:
    control(form, "synthetic_examples").value = "1,000,000,000"
    assert form.state.plan is None
    shown = problem_beside(form, "synthetic_examples")
    assert "because more does not fit into this machine's 32 GiB of memory" in html.unescape(shown)
    (found,) = form.state.problems
    control(form, "synthetic_examples").value = re.findall(r"Set it to (\d+)", found.fix)[0]
    assert form.state.plan is not None
    assert problem_beside(form, "synthetic_examples") == ""


def test_an_unreadable_value_leaves_the_last_config_and_no_plan(form: Form) -> None:
    control(form, "epochs").value = "7"
    control(form, "epochs").value = "many"
    assert form.state.config.epochs == 7
    assert form.state.plan is None
    assert [problem.field for problem in form.state.problems] == ["epochs"]


def test_the_batch_is_computed_while_another_field_has_a_problem(form: Form) -> None:
    control(form, "epochs").value = "many"
    control(form, "per_replica_batch_size").value = "32"
    assert control(form, "global_batch_size").value == "64"


def test_an_empty_field_hints_at_the_value_of_the_plan(form: Form) -> None:
    control(form, "strategy").value = "multi_worker_mirrored"
    assert form.state.plan is not None
    assert control(form, "workers").placeholder == f"{form.state.plan.workers}, automatic"


def test_the_chosen_engine_is_asked(form: Form, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    control(form, "launcher").value = "slurm"
    until(lambda: "sinfo is not on this machine" in form._reach.box.value)


def test_a_problem_in_a_folded_group_shows_in_its_title(form: Form) -> None:
    control(form, "learning_rate").value = "-1"
    fold, settings = form._groups.folds["Steps, optimizer and learning rate"], form._groups.all
    assert (fold.opened, settings.opened) == (True, True)
    assert fold.title == "Steps, optimizer and learning rate (1 to fix)"
    assert settings.title == "More settings (1 to fix)"
    control(form, "learning_rate").value = "0.01"
    assert (fold.title, settings.title) == ("Steps, optimizer and learning rate", "More settings")


def test_a_preset_fills_the_form_and_is_left_by_an_edit(form: Form) -> None:
    control(form, "name").value = "kept"
    form._preset.value = "cnn_fashion_mnist"
    assert form.state.config.model == "cnn"
    assert form.state.config.per_replica_batch_size == 16
    assert form.state.config.name == "kept"
    control(form, "epochs").value = "2"
    assert form._preset.value == ""
    control(form, "epochs").value = "10"
    assert form._preset.value == "cnn_fashion_mnist"


def test_the_settings_of_a_run_are_shown_without_its_name_unless_a_person_has_typed() -> None:
    form = Form(RunConfig(name="mine"), LAPTOP)
    form.use_settings(RunConfig(epochs=9, name="its name", start_now=True), unless_edited=True)
    shown = form.state.config
    assert (shown.epochs, shown.name, shown.start_now) == (9, "mine", False)
    control(form, "epochs").value = "many"
    form.use_settings(RunConfig(epochs=3), unless_edited=True)
    assert control(form, "epochs").value == "many"
    form.use_settings(RunConfig(epochs=3))
    assert control(form, "epochs").value == "3"


def test_problems_found_after_the_plan_are_shown_together_until_the_next_change(
    form: Form,
) -> None:
    form.show_refused([Problem("name", "short", "long", "Shorten it.")])
    form.show_refused([Problem("model", "buildable", "nothing", "Fix it.")])
    assert "Shorten it." in problem_beside(form, "name")
    assert "Fix it." in problem_beside(form, "model")
    control(form, "epochs").value = "2"
    assert problem_beside(form, "name") == problem_beside(form, "model") == ""


def test_fields_without_meaning_are_hidden(form: Form) -> None:
    fields = {field.name: field for field in form.parts.all}
    assert not fields["data_dir"].visible
    assert fields["synthetic_noise"].visible
    control(form, "data").value = "fashion_mnist"
    assert fields["data_dir"].visible
    assert not fields["synthetic_noise"].visible
    control(form, "strategy").value = "default"
    assert not fields["replicas"].visible


def test_files_and_their_sharding_are_visible_if_they_have_a_meaning(form: Form) -> None:
    fields = {field.name: field for field in form.parts.all}

    def shown() -> list[str]:
        return [n for n in ("auto_shard", "data_files") if fields[n].visible]

    assert shown() == []
    control(form, "pipeline").value = "files"
    assert shown() == ["data_files"]
    control(form, "strategy").value = "multi_worker_mirrored"
    assert shown() == ["auto_shard", "data_files"]
    control(form, "data_files").value = "1"
    assert "at least the 2 workers" in problem_beside(form, "data_files")
    control(form, "pipeline").value = "usual"
    assert shown() == ["auto_shard"]
    control(form, "pipeline").value = "indexed"
    assert shown() == []


def test_an_interpreter_that_this_machine_lacks_is_a_problem_beside_its_field(form: Form) -> None:
    control(form, "interpreter").value = "/no/such/python"
    assert [problem.field for problem in form.state.problems] == ["interpreter"]
    assert "/no/such/python" in problem_beside(form, "interpreter")
    control(form, "launcher").value = "slurm"
    assert "interpreter" not in {problem.field for problem in form.state.problems}


def test_values_that_are_probably_not_meant_have_a_warning_and_can_be_trained(form: Form) -> None:
    control(form, "replicas").value = "100"
    assert "share 8 CPU cores" in problem_beside(form, "replicas")
    assert form.state.problems == ()
    control(form, "replicas").value = "2"
    assert problem_beside(form, "replicas") == ""
    control(form, "epochs").value = "1,000,000"
    assert "1,000,000 epochs are" in problem_beside(form, "epochs")
    assert form.state.problems == ()


def test_without_tensorflow_the_plan_is_shown_and_train_is_off() -> None:
    form = Form(RunConfig(), dataclasses.replace(LAPTOP, tensorflow_version=None))
    assert form.state.plan is not None
    assert "must be a Python that can import TensorFlow" in problem_beside(form, "interpreter")
    assert form.reason == "Fix Python interpreter to train."
    form.use_devices(LAPTOP)
    assert form.state.problems == ()


def test_another_interpreter_leaves_all_other_fields_as_typed(form: Form) -> None:
    control(form, "epochs").value = "many"
    form.use_interpreter("/somewhere/python")
    assert form.state.config.interpreter == "/somewhere/python"
    assert control(form, "epochs").value == "many"


def test_each_change_gives_one_state(form: Form) -> None:
    states: list[FormState] = []
    form.on_change(states.append)
    control(form, "epochs").value = "7"
    assert [state.config.epochs for state in states] == [7]


def test_a_value_typed_while_newer_devices_are_shown_counts(form: Form) -> None:
    shown, go = threading.Event(), threading.Event()

    def wait(*_: object) -> None:
        shown.set()
        assert go.wait(LIMIT_SECONDS)

    form.parts.batch.fields[0].show_problems = wait  # type: ignore[method-assign]
    looker = threading.Thread(target=form.use_devices, args=(LAPTOP,))
    looker.start()
    assert shown.wait(LIMIT_SECONDS)
    person = threading.Thread(target=setattr, args=(control(form, "epochs"), "value", "7"))
    person.start()
    person.join(0.2)  # the thread has ended by now only if the change was dropped
    go.set()
    looker.join(30)
    person.join(30)
    assert form.state.config.epochs == 7


def test_newer_devices_change_the_plan(form: Form) -> None:
    states: list[FormState] = []
    form.on_change(states.append)
    form.use_devices(FOUR_GPUS)
    assert states[-1].plan is not None
    assert states[-1].plan.num_replicas_in_sync == 4


def test_a_preset_leaves_name_start_and_archive_of_a_run(form: Form) -> None:
    preset = form._preset.value
    kept = {"archive": "/drive/runs", "interpreter": "/somewhere/python", "start": "cold"}
    for name, value in {**kept, "name": "mine", "start_now": True}.items():
        control(form, name).value = value
    assert form._preset.value == preset
    form._preset.value = "cnn_fashion_mnist"
    asked = form.state.config
    assert asked.model == "cnn"
    assert {name: getattr(asked, name) for name in kept} == kept
    assert asked.name == "mine"
    assert asked.start_now
