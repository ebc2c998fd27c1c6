"""The gauge of memory and accelerators: silent where nobody looks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.machines import LAPTOP
from tests.waiting import until
from workbench.devices.usage import UsageMeter
from workbench.widgets.gauge import Gauge


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What gauges send."""
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(Gauge, "send", lambda _, content: sent.append(content))
    return sent


@pytest.fixture
def gauge() -> Iterator[Gauge]:
    """The gauge of this machine."""
    made = Gauge(lambda: LAPTOP)
    yield made
    made.end()


def test_a_page_that_looks_is_told_what_this_machine_has(
    gauge: Gauge, told: list[dict[str, Any]]
) -> None:
    gauge._handle_custom_msg({"view": "a", "shown": True}, [])
    memory = until(lambda: told)[0]["meters"][0]
    assert memory["name"] == "Memory in use"
    assert 0 < memory["share"] < 1


def test_where_nobody_looks_nothing_is_measured(
    gauge: Gauge, monkeypatch: pytest.MonkeyPatch
) -> None:
    gauge._handle_custom_msg({"view": "a", "shown": True}, [])
    gauge._handle_custom_msg({"view": "a", "shown": False}, [])
    measured: list[Any] = []
    monkeypatch.setattr(UsageMeter, "measure", lambda _: measured.append(1))
    gauge._turn()
    assert measured == []
