"""The gauge of memory and accelerators: it sends nothing if no page shows it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.machines import LAPTOP
from tests.waiting import until
from workbench.devices.usage import UsageMeter
from workbench.widgets.gauge import Gauge


@pytest.fixture
def sent_messages(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The messages that gauges send."""
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(Gauge, "send", lambda _, content: sent.append(content))
    return sent


@pytest.fixture
def gauge() -> Iterator[Gauge]:
    """The gauge of this machine."""
    made = Gauge(lambda: LAPTOP)
    yield made
    made.end()


def test_a_visible_gauge_gets_the_memory_of_this_machine(
    gauge: Gauge, sent_messages: list[dict[str, Any]]
) -> None:
    gauge._handle_custom_msg({"view": "a", "shown": True}, [])
    memory = until(lambda: sent_messages)[0]["meters"][0]
    assert memory["name"] == "Memory in use"
    assert 0 < memory["share"] < 1


def test_an_invisible_gauge_measures_nothing(gauge: Gauge, monkeypatch: pytest.MonkeyPatch) -> None:
    gauge._handle_custom_msg({"view": "a", "shown": True}, [])
    gauge._handle_custom_msg({"view": "a", "shown": False}, [])
    measured: list[Any] = []
    monkeypatch.setattr(UsageMeter, "measure", lambda _: measured.append(1))
    gauge._turn()
    assert measured == []
