"""What a command does before it starts a run."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from workbench.cli import before
from workbench.config import RunConfig
from workbench.devices.nvidia import NvidiaGpu


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The options with which TensorFlow would be loaded ahead; nothing is loaded."""
    options = list[dict[str, Any]]()

    @contextmanager
    def recorded(interpreter: str | None, **given: Any) -> Iterator[None]:
        options.append(given)
        yield

    monkeypatch.setattr(before, "loaded_ahead", recorded)
    monkeypatch.setattr(before, "driver_gpus", tuple)
    return options


def test_tensorflow_is_loaded_once_for_the_list_of_gpus_and_the_trainer(
    loaded: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with before.ahead_of_a_run(RunConfig()):
        assert loaded == []
    monkeypatch.setattr(before, "driver_gpus", lambda: (NvidiaGpu("Tesla T4"),))
    with before.ahead_of_a_run(RunConfig(start="cold")):
        assert loaded == [{"legacy": False, "start": "cold"}]


def test_tensorflow_is_loaded_once_for_the_inspection_and_the_trainer(
    loaded: list[dict[str, Any]],
) -> None:
    config = RunConfig(model="mine:make_model", strategy="parameter_server", loop="fit")
    with before.ahead_of_a_run(config):
        assert loaded == [{"legacy": True, "start": "auto"}]
