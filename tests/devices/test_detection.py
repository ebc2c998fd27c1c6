"""Detected devices, and the reasons why a present accelerator cannot be used."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from tests.machines import LAPTOP
from workbench.config import RunConfig
from workbench.devices import DeviceError, Devices, Gpu, describe, detect
from workbench.devices.nvidia import NvidiaGpu
from workbench.devices.text import tpu_line
from workbench.plan import make_plan

Make = Callable[..., Any]
T4 = NvidiaGpu("Tesla T4", 15 * 2**30, "7.5", "GPU-aaaa-1")
NO_LIBRARIES = (
    "W0000 00:00:1723 gpu_device.cc:2343] Cannot dlopen some GPU libraries. Please make sure the "
    "missing libraries mentioned above are installed properly if you would like to use GPU.\n"
)
NO_DRIVER_LIBRARY = (
    "I0000 00:00:1795 cudart_stub.cc:31] Could not find cuda drivers on your machine, GPU will "
    "not be used.\n"
)
REFUSED = (
    "E0000 00:00:1795 cuda_platform.cc:52] failed call to cuInit: INTERNAL: CUDA error: Failed "
    "call to cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH\n"
)


@pytest.fixture
def empty(tmp_path: Path) -> dict[str, Any]:
    """A machine whose files show no accelerator, and no environment variables of one."""
    (tmp_path / "empty").mkdir()
    return {"root": tmp_path / "empty", "environment": {"PATH": os.environ["PATH"]}}


@pytest.mark.promise
@pytest.mark.slow
def test_the_real_tensorflow_is_asked_in_a_child_and_never_imported_here() -> None:
    question = (
        "import sys; from workbench.devices import detect; "
        "print(detect().tensorflow_version, 'tensorflow' in sys.modules)"
    )
    asked = subprocess.run(
        [sys.executable, "-c", question], capture_output=True, text=True, check=True
    )
    assert asked.stdout.split() == [version("tensorflow"), "False"]


@pytest.mark.slow
def test_the_real_tensorflow_reports_the_versions_of_its_packages() -> None:
    devices = detect()
    assert devices.interpreter == sys.executable
    assert devices.tensorflow_version is not None
    assert devices.keras_version is not None
    assert [gpu.name for gpu in devices.gpus] == [f"GPU:{n}" for n in range(len(devices.gpus))]
    assert Devices.from_json(devices.to_json()) == devices
    quick = detect(import_tensorflow=False)
    assert quick.tensorflow_version == devices.tensorflow_version
    assert quick.keras_version == devices.keras_version


def test_a_missing_tensorflow_is_a_problem_with_the_command_that_installs_it(
    bare_python: str, empty: dict[str, Any], nvml: Make
) -> None:
    devices = detect(bare_python, nvml=nvml(driver=False), **empty)
    assert devices.tensorflow_version is None
    assert devices.gpus == ()
    (problem,) = devices.problems
    assert f"TensorFlow is not installed in {bare_python}" in problem
    assert f"`uv pip install --python {bare_python} tensorflow`" in problem


def test_for_the_systems_python_the_fix_is_an_environment(
    reporting: Make, empty: dict[str, Any], nvml: Make
) -> None:
    missing = {"tensorflow_found": False, "distributions": {}, "externally_managed": True}
    (problem,) = detect(reporting(**missing), nvml=nvml(driver=False), **empty).problems
    assert "-m venv ~/workbench-env" in problem


def test_gpus_have_their_memory_from_the_driver(
    reporting: Make, imported: Make, empty: dict[str, Any], nvml: Make
) -> None:
    listed = [{"model": "Tesla T4", "compute_capability": "7.5"}]
    devices = detect(reporting(imported=imported(gpus=listed)), nvml=nvml(T4), **empty)
    assert devices.gpus == (Gpu("GPU:0", "Tesla T4", 15 * 2**30, "7.5"),)
    assert devices.problems == ()


def test_the_quick_check_lists_the_gpus_of_the_driver(
    reporting: Make, empty: dict[str, Any], nvml: Make
) -> None:
    devices = detect(reporting(), import_tensorflow=False, nvml=nvml(T4, T4), **empty)
    assert devices.gpus == (
        Gpu("GPU:0", "Tesla T4", 15 * 2**30, "7.5"),
        Gpu("GPU:1", "Tesla T4", 15 * 2**30, "7.5"),
    )
    assert devices.problems == ()


@pytest.mark.parametrize(
    ("log", "parts"),
    [
        (NO_LIBRARIES, ["CUDA libraries are missing", "needs CUDA 12.5.1", "tensorflow[and-cuda]"]),
        (NO_DRIVER_LIBRARY, ["libcuda.so.1", "--gpus all"]),
        (NO_DRIVER_LIBRARY + NO_LIBRARIES, ["CUDA libraries are missing"]),
        (REFUSED, ["CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "nvidia-smi"]),
        ("", ["its log gives no reason", "TF_CPP_MAX_VLOG_LEVEL=3"]),
    ],
)
def test_a_gpu_that_tensorflow_does_not_list_is_explained_from_its_log(
    reporting: Make,
    imported: Make,
    empty: dict[str, Any],
    nvml: Make,
    log: str,
    parts: list[str],
) -> None:
    devices = detect(reporting(log, imported=imported()), nvml=nvml(T4), **empty)
    assert devices.gpus == ()
    (problem,) = devices.problems
    assert problem.startswith("1 NVIDIA GPU (Tesla T4) cannot be used because ")
    assert all(part in problem for part in parts)


@pytest.mark.parametrize("import_tensorflow", [True, False])
def test_a_cpu_build_is_named_with_the_fix(
    reporting: Make,
    imported: Make,
    empty: dict[str, Any],
    nvml: Make,
    import_tensorflow: bool,
) -> None:
    program = reporting(
        distributions={"tensorflow-cpu": "2.21.0"},
        imported=imported(cuda_build=False) if import_tensorflow else None,
    )
    devices = detect(program, import_tensorflow=import_tensorflow, nvml=nvml(T4), **empty)
    (problem,) = devices.problems
    assert devices.gpus == ()
    assert f"tensorflow-cpu in {program} is built without GPU support" in problem
    assert f"{program} -m pip uninstall -y tensorflow-cpu && {program} -m pip install " in problem


def test_gpus_hidden_by_the_environment_are_named(
    reporting: Make, imported: Make, empty: dict[str, Any], nvml: Make
) -> None:
    empty["environment"]["CUDA_VISIBLE_DEVICES"] = "-1"
    program = reporting(REFUSED, imported=imported())
    (problem,) = detect(program, nvml=nvml(T4, T4), **empty).problems
    assert "2 of 2 NVIDIA GPUs (Tesla T4)" in problem
    assert "CUDA_VISIBLE_DEVICES='-1' hides them: unset the variable" in problem


def test_a_gpu_without_a_driver_is_a_problem(
    reporting: Make, imported: Make, empty: dict[str, Any], nvml: Make
) -> None:
    folder = empty["root"] / "sys/bus/pci/devices/0000:00:04.0"
    folder.mkdir(parents=True)
    (folder / "vendor").write_text("0x10de\n")
    (folder / "class").write_text("0x030200\n")
    program = reporting(imported=imported())
    (problem,) = detect(program, nvml=nvml(driver=False), **empty).problems
    assert "no NVIDIA driver shows them" in problem


@pytest.fixture
def tpu_vm(empty: dict[str, Any]) -> dict[str, Any]:
    """A machine with one v5e chip, which the environment variables announce."""
    (empty["root"] / "dev/vfio").mkdir(parents=True)
    (empty["root"] / "dev/vfio/0").touch()
    empty["environment"]["TPU_ACCELERATOR_TYPE"] = "v5litepod-1"
    return empty


def test_a_tpu_is_seen_without_tensorflow_and_the_fix_is_the_tpu_build(
    bare_python: str, tpu_vm: dict[str, Any], nvml: Make
) -> None:
    devices = detect(bare_python, nvml=nvml(driver=False), **tpu_vm)
    assert (devices.tpu_chips, devices.tpu_kind) == (1, "v5e")
    (problem,) = devices.problems
    assert "1 TPU v5e chip cannot be used" in problem
    assert "tensorflow-tpu==2.20.0 libtpu==0.0.21.1" in problem
    text = describe(devices)
    assert "TPU          1 v5e chip, 1 replica (one chip is one replica)" in text


def test_plain_tensorflow_on_a_tpu_is_the_wrong_build(
    reporting: Make, imported: Make, tpu_vm: dict[str, Any], nvml: Make
) -> None:
    program = reporting(imported=imported())
    devices = detect(program, nvml=nvml(driver=False), **tpu_vm)
    assert devices.tensorflow_for_tpus is False
    (problem,) = devices.problems
    assert "tensorflow in " in problem
    assert "is built without TPU support" in problem
    assert "pip uninstall -y tensorflow && " in problem


def test_a_tpu_build_on_a_tpu_has_no_problem(
    reporting: Make, tpu_vm: dict[str, Any], nvml: Make
) -> None:
    program = reporting(distributions={"tensorflow-tpu": "2.20.0"})
    devices = detect(program, nvml=nvml(driver=False), **tpu_vm)
    assert devices.tensorflow_version == "2.20.0"
    assert devices.tensorflow_for_tpus is True
    assert devices.problems == ()


@pytest.mark.parametrize(
    ("libtpu", "reason"),
    [
        (
            "0.0.52",
            "libtpu 0.0.52 lacks functions that TensorFlow calls, so the import of TensorFlow",
        ),
        (None, "libtpu, which TensorFlow needs to use the TPU, is not installed"),
    ],
)
def test_a_libtpu_that_does_not_fit_is_reported_with_the_right_version(
    reporting: Make, tpu_vm: dict[str, Any], nvml: Make, libtpu: str | None, reason: str
) -> None:
    program = reporting(distributions={"tensorflow-tpu": "2.20.0"}, libtpu=libtpu)
    (problem,) = detect(program, nvml=nvml(driver=False), **tpu_vm).problems
    assert reason in problem
    assert "install tensorflow-tpu==2.20.0 libtpu==0.0.21.1" in problem


def test_a_process_that_holds_the_tpu_is_named(
    reporting: Make, tpu_vm: dict[str, Any], nvml: Make
) -> None:
    process = tpu_vm["root"] / "proc/4321"
    (process / "fd").mkdir(parents=True)
    (process / "fd/7").symlink_to("/dev/vfio/0")
    (process / "cmdline").write_bytes(b"python3\0-m\0ipykernel_launcher\0")
    program = reporting(distributions={"tensorflow-tpu": "2.20.0"})
    (problem,) = detect(program, nvml=nvml(driver=False), **tpu_vm).problems
    assert "in use by process 4321 (python3 -m ipykernel_launcher)" in problem
    assert "restart that kernel" in problem


@pytest.mark.parametrize(
    ("kind", "chips", "line"),
    [
        ("v5e", 1, "1 v5e chip, 1 replica (one chip is one replica)"),
        ("v6e", 4, "4 v6e chips, 4 replicas (one chip is one replica)"),
        ("v4", 4, "4 v4 chips, 4 replicas (one chip is one replica)"),
        ("v3", 4, "4 v3 chips, 8 replicas (each of a chip's two cores is a replica)"),
        ("new", 2, "2 new chips"),
        (None, 0, ""),
    ],
)
def test_chips_are_listed_with_their_replicas(kind: str | None, chips: int, line: str) -> None:
    devices = dataclasses.replace(LAPTOP, tpu_chips=chips, tpu_kind=kind)
    assert tpu_line(devices) == line
    if "replica" in line:
        plan = make_plan(RunConfig(strategy="tpu"), devices)
        assert f" {plan.num_replicas_in_sync} replica" in line


def test_tpu_support_is_unknown_if_tensorflow_was_not_imported(
    reporting: Make, tpu_vm: dict[str, Any], nvml: Make
) -> None:
    devices = detect(reporting(), nvml=nvml(driver=False), **tpu_vm)
    assert devices.tensorflow_for_tpus is None
    assert devices.problems == ()


def test_a_broken_tensorflow_is_a_problem_that_quotes_the_error(
    reporting: Make, empty: dict[str, Any], nvml: Make
) -> None:
    program = reporting(import_error="ImportError: libstdc++.so.6: version not found")
    (problem,) = detect(program, nvml=nvml(driver=False), **empty).problems
    assert "importing it fails (ImportError: libstdc++.so.6: version not found)" in problem
    assert "--force-reinstall" in problem


def test_json_of_an_earlier_release_may_lack_only_added_fields() -> None:
    values = LAPTOP.to_json()
    del values["tensorflow_for_tpus"]
    assert Devices.from_json(values) == LAPTOP
    with pytest.raises(DeviceError, match="cpu_model"):
        Devices.from_json({name: values[name] for name in values if name != "cpu_model"})


def test_json_of_another_release_is_refused_with_the_field() -> None:
    with pytest.raises(DeviceError, match=r"missing or unknown: .*cpu_cores.*Detect the devices"):
        Devices.from_json({"gpus": []})


def test_the_text_is_aligned_and_never_breaks_a_command() -> None:
    command = "`" + " ".join(["/some/where/python -m pip install tensorflow"] * 4) + "`"
    devices = Devices(
        cpu_model=None,
        cpu_cores=1,
        memory_bytes=512 * 2**20,
        gpus=(Gpu("GPU:0", "Tesla T4", 15 * 2**30, "7.5"), Gpu("GPU:1", None, None, None)),
        tpu_chips=0,
        tpu_kind=None,
        interpreter="/usr/bin/python3",
        python_version="3.12.1",
        tensorflow_version="2.20.0",
        keras_version="3.13.2",
        tf_keras_version=None,
        problems=(f"Something is wrong: run {command}.",),
    )
    assert describe(devices).splitlines() == [
        "CPU          unknown model, 1 core",
        "Memory       512 MiB",
        "GPU:0        Tesla T4, 15.0 GiB, compute capability 7.5",
        "GPU:1        unknown model, memory unknown",
        "TPU          none found",
        "Python       3.12.1 (/usr/bin/python3)",
        "TensorFlow   2.20.0",
        "Keras        3.13.2, legacy (tf-keras) not installed",
        "",
        "Problems",
        "1. Something is wrong: run",
        f"   {command}.",
    ]
