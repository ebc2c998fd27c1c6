"""The build of TensorFlow that fits a machine, and the Pythons that have its wheels."""

from __future__ import annotations

import dataclasses
import platform
import re

import pytest

from tests.colab.lists import versions
from tests.machines import LAPTOP
from workbench.devices import tpu_build
from workbench.environments import BUILDS, MakingError, fitting_build

TPU_VM = dataclasses.replace(LAPTOP, tpu_chips=1, tpu_kind="v5e")
COLAB_PYTHON = "3.13.15"


@pytest.mark.parametrize(
    ("version", "for_tpus", "fits"),
    [(None, None, True), ("2.21.0", False, True), ("2.20.0", True, False), ("2.21.0", None, False)],
)
def test_a_machine_with_chips_gets_the_tpu_build_if_the_interpreter_lacks_it(
    version: str | None, for_tpus: bool | None, fits: bool
) -> None:
    machine = dataclasses.replace(TPU_VM, tensorflow_version=version, tensorflow_for_tpus=for_tpus)
    assert fitting_build(machine) == (BUILDS["tpu"] if fits else None)


def test_a_laptop_with_tensorflow_needs_no_build() -> None:
    assert fitting_build(LAPTOP) is None


def test_the_tpu_build_fits_the_python_and_the_libtpu_of_colabs_tpu_runtime() -> None:
    BUILDS["tpu"].check(COLAB_PYTHON)
    assert versions("tpu")["libtpu"] == tpu_build.LIBTPU_VERSION
    assert "tensorflow" not in versions("tpu")
    name = "python3.13-tensorflow-tpu-2.20.0-libtpu-0.0.21.1"
    assert BUILDS["tpu"].folder_name(COLAB_PYTHON) == name


@pytest.mark.parametrize(
    ("python_version", "where", "got", "fix"),
    [
        ("3.14.1", ("Linux", "x86_64"), "Python 3.14.1 on Linux x86_64", "Python 3.13, such as"),
        ("3.8.2", ("Linux", "x86_64"), "Python 3.8.2", "uv python install 3.13"),
        (COLAB_PYTHON, ("Linux", "aarch64"), "Linux aarch64", "a strategy other than TPU"),
        (COLAB_PYTHON, ("Darwin", "arm64"), "Darwin arm64", "a strategy other than TPU"),
    ],
)
def test_a_python_without_a_wheel_is_refused_before_any_download(
    python_version: str,
    where: tuple[str, str],
    got: str,
    fix: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    system, machine = where
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    with pytest.raises(MakingError, match=re.escape(got)) as caught:
        BUILDS["tpu"].check(python_version)
    assert "wheels of tensorflow-tpu==2.20.0 for " in caught.value.rule
    assert fix in caught.value.fix
