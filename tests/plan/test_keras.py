"""The Keras that runs a config: refused configs, and the notes before the start."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.machines import LAPTOP
from workbench import catalog
from workbench.config import Problem, RunConfig
from workbench.devices import Devices
from workbench.plan import Plan, PlanError, make_plan
from workbench.plan.keras import KNOWN_FAULTS, LEGACY_NOTE, LOST_COUNTS_NOTE, KnownFault

LEGACY = {"strategy": "parameter_server", "loop": "fit"}
BUILD = "\n\ndef build():\n    return None\n"


def plan(machine: Devices = LAPTOP, **fields: Any) -> Plan:
    return make_plan(RunConfig(**fields), machine)


def problem(machine: Devices = LAPTOP, **fields: Any) -> Problem:
    with pytest.raises(PlanError) as caught:
        plan(machine, **fields)
    (only,) = caught.value.problems
    return only


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, in which runs are requested."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


ON_A_TPU = {"tpu": "my-tpu", "replicas": 8}


@pytest.mark.parametrize("loop", catalog.LOOPS)
@pytest.mark.parametrize("strategy", catalog.STRATEGIES)
def test_only_fit_with_parameter_servers_takes_legacy_keras(strategy: str, loop: str) -> None:
    made = plan(strategy=strategy, loop=loop, **(ON_A_TPU if strategy == "tpu" else {}))
    legacy = (strategy, loop) == ("parameter_server", "fit")
    assert made.keras == ("legacy" if legacy else "installed")
    assert (LEGACY_NOTE in made.notes) == legacy


@pytest.mark.parametrize(
    ("strategy", "loop"), [("parameter_server", "custom"), ("mirrored", "fit")]
)
def test_without_tf_keras_the_other_configs_run(strategy: str, loop: str) -> None:
    without = replace(LAPTOP, tf_keras_version=None)
    found = problem(without, **LEGACY)
    assert (found.field, found.got) == ("loop", "fit")
    assert found.rule == "custom with this strategy if the tf-keras package is not installed"
    assert f"{LAPTOP.interpreter} -m pip install tf-keras" in found.fix
    assert "18624" in found.fix
    plan(without, strategy=strategy, loop=loop)


@pytest.mark.parametrize(
    "line",
    ["import keras", "import keras.layers as kl", "from keras import layers",
     "from keras.src import models", "import json, keras"],
)  # fmt: skip
@pytest.mark.parametrize("model", ["mine.py:build", "mine:build", "package.mine:build"])
def test_a_model_that_imports_keras_itself_is_refused_under_legacy_keras(
    model: str, line: str, folder: Path
) -> None:
    (folder / "package").mkdir()
    for path in (folder / "mine.py", folder / "package" / "mine.py"):
        path.write_text(f"{line}{BUILD}")
    found = problem(**LEGACY, model=model)
    assert (found.field, found.got) == ("model", model)
    assert found.rule == "one that uses tf.keras and does not import keras, which is Keras 3"
    assert found.fix.startswith("Write tf.keras instead, or choose the loop custom.")
    plan(strategy="parameter_server", model=model)
    plan(loop="fit", model=model)


@pytest.mark.parametrize(
    "line",
    ["import tensorflow as tf", "from tensorflow import keras", "import keras_tuner",
     "from .keras import layers", "import tf_keras", "raise SystemExit('imported')", "import ("],
)  # fmt: skip
def test_a_module_without_keras_is_neither_refused_nor_imported(line: str, folder: Path) -> None:
    (folder / "mine.py").write_text(f"{line}{BUILD}")
    plan(**LEGACY, model="mine:build")


def test_a_module_is_read_from_the_place_that_the_run_would_use(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = folder / "first" / "mine"
    first.mkdir(parents=True)
    (first / "__init__.py").write_text(f"import keras{BUILD}")
    monkeypatch.setenv("PYTHONPATH", str(folder / "first"))
    assert problem(**LEGACY, model="mine:build").field == "model"
    (folder / "mine.py").write_text(BUILD)
    plan(**LEGACY, model="mine:build")


def test_a_missing_module_is_left_to_the_interpreter(folder: Path) -> None:
    plan(**LEGACY, model="installed.elsewhere:build")


def test_the_note_about_lost_counts_is_for_asynchronous_workers() -> None:
    assert LOST_COUNTS_NOTE in plan(strategy="parameter_server").notes
    assert LOST_COUNTS_NOTE not in plan(**LEGACY).notes
    assert LOST_COUNTS_NOTE not in plan(strategy="multi_worker_mirrored").notes


def with_fault(fault: KnownFault) -> Devices:
    names = {"keras": "keras_version", "tensorflow": "tensorflow_version"}
    version = fault.version if fault.version.count(".") > 1 else f"{fault.version}.1"
    return replace(LAPTOP, **{names[fault.package]: version})


@pytest.mark.parametrize("strategy", ["mirrored", "central_storage", "multi_worker_mirrored"])
@pytest.mark.parametrize(
    "fault", KNOWN_FAULTS, ids=lambda fault: f"{fault.package}-{fault.version}"
)
def test_a_release_known_to_fail_with_replicas_is_named(fault: KnownFault, strategy: str) -> None:
    (note,) = [text for text in plan(with_fault(fault), strategy=strategy).notes if "issue" in text]
    assert note.startswith(f"With {fault.package} {fault.version}")
    assert f"under {catalog.STRATEGIES[strategy].label}, {fault.what}" in note
    assert "install a newer release" in note


@pytest.mark.parametrize("strategy", ["default", "one_device", "parameter_server"])
@pytest.mark.parametrize(
    "fault", KNOWN_FAULTS, ids=lambda fault: f"{fault.package}-{fault.version}"
)
def test_no_release_is_blamed_of_asynchronous_workers(fault: KnownFault, strategy: str) -> None:
    assert plan(with_fault(fault), strategy=strategy).notes == plan(strategy=strategy).notes


@pytest.mark.parametrize("version", ["2.21.0", "2.1.6", None])
def test_other_releases_are_not_blamed(version: str | None) -> None:
    machine = replace(LAPTOP, tensorflow_version=version, keras_version=version)
    assert plan(machine).notes == plan().notes
