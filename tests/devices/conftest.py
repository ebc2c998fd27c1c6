"""Interpreters, drivers and file systems to detect: real ones if possible, else stand-ins."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from workbench.devices.child import MARK
from workbench.devices.nvidia import NvidiaGpu

TREE = "workbench-test-tree"


@pytest.fixture(scope="session")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A real interpreter in a separate environment, without TensorFlow and pip."""
    folder = tmp_path_factory.mktemp("bare") / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    return str(folder / "bin" / "python")


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], str]:
    """Return a function that makes a shell script in place of an interpreter."""

    def make(body: str) -> str:
        path = tmp_path / "interpreter"
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return str(path)

    return make


@pytest.fixture
def reporting(script: Callable[[str], str], tmp_path: Path) -> Callable[..., str]:
    """Return a function that makes a stand-in interpreter with a fixed report and log."""

    def make(log: str = "", **changed: Any) -> str:
        report = {
            "python_version": "3.11.9",
            "distributions": {"tensorflow": "2.21.0"},
            "tensorflow_found": True,
            "keras": "3.15.1",
            "tf_keras": None,
            "libtpu": "0.0.21.1",
            "pip": True,
            "externally_managed": False,
            "imported": None,
            "import_error": None,
        }
        (tmp_path / "log").write_text(log)
        (tmp_path / "report").write_text(MARK + json.dumps({**report, **changed}) + "\n")
        return script(f"echo noise before; cat '{tmp_path}/log' >&2; cat '{tmp_path}/report'")

    return make


@pytest.fixture
def imported() -> Callable[..., dict[str, Any]]:
    """Return a function that makes the probe's report on a TensorFlow built with CUDA."""

    def make(**changed: Any) -> dict[str, Any]:
        values = {
            "version": "2.21.0",
            "cuda_build": True,
            "cuda_version": "12.5.1",
            "tpu_build": False,
            "tpu_system": False,
            "gpus": [],
        }
        return {**values, **changed}

    return make


@pytest.fixture
def tree(tmp_path: Path) -> Callable[[dict[str, str]], Path]:
    """Return a function that makes a folder in place of `/` from paths and texts."""

    def make(files: dict[str, str]) -> Path:
        root = tmp_path / TREE
        root.mkdir(exist_ok=True)
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return root

    return make


@pytest.fixture
def nvml() -> Callable[..., Any]:
    """Return a function that makes a stand-in for the `pynvml` module, which needs no GPU."""

    def make(*gpus: NvidiaGpu, driver: bool = True, memory_supported: bool = True) -> Any:
        class FailureError(Exception):
            pass

        class NotSupportedError(FailureError):
            pass

        def start() -> None:
            if not driver:
                raise FailureError("NVML Shared Library Not Found")

        def memory(gpu: NvidiaGpu) -> SimpleNamespace:
            if not memory_supported:
                raise NotSupportedError
            return SimpleNamespace(total=gpu.memory_bytes, used=2**30)

        def capability(gpu: NvidiaGpu) -> tuple[int, ...]:
            return tuple(int(part) for part in (gpu.compute_capability or "0.0").split("."))

        return SimpleNamespace(
            NVMLError=FailureError,
            NVMLError_NotSupported=NotSupportedError,
            nvmlInit=start,
            nvmlShutdown=lambda: None,
            nvmlDeviceGetCount=lambda: len(gpus),
            nvmlDeviceGetHandleByIndex=lambda index: gpus[index],
            nvmlDeviceGetName=lambda gpu: gpu.model,
            nvmlDeviceGetUUID=lambda gpu: (gpu.uuid or "").encode(),
            nvmlDeviceGetMemoryInfo=memory,
            nvmlDeviceGetCudaComputeCapability=capability,
            nvmlDeviceGetUtilizationRates=lambda gpu: SimpleNamespace(gpu=37, memory=10),
            NVML_TEMPERATURE_GPU=0,
            nvmlDeviceGetTemperature=lambda gpu, sensor: 61,
        )

    return make
