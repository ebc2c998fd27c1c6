"""What the form says of the engine that is chosen: what it has, or why it is out of reach."""

import pytest

from tests.launchers.cluster import free_ports
from tests.waiting import until
from workbench.config import RunConfig
from workbench.widgets.form.launcher_reach import LauncherReach


def told(**asked: object) -> str:
    reach = LauncherReach()
    reach.follow(RunConfig(**asked))
    until(lambda: "Asking" not in reach.box.value)
    return str(reach.box.value)


def test_of_this_machine_nothing_is_said() -> None:
    assert told() == ""


def test_what_a_new_ray_has_is_told() -> None:
    pytest.importorskip("ray")
    assert "CPUs" in told(launcher="ray")


def test_an_address_where_nothing_answers_is_told() -> None:
    pytest.importorskip("ray")
    nobody = f"127.0.0.1:{free_ports(1)[0]}"
    assert "Connection refused" in told(launcher="ray", ray_address=nobody)


def test_that_there_is_no_slurm_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert "sinfo is not on this machine" in told(launcher="slurm")


def test_kubernetes_is_reached_by_who_applies_the_manifest() -> None:
    assert "manifest" in told(launcher="kubernetes")
