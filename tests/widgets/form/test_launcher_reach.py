"""The form's line about the chosen engine: its resources, or why it cannot be reached."""

import pytest

from tests.launchers.cluster import free_ports
from tests.waiting import until
from workbench.config import RunConfig
from workbench.widgets.form.launcher_reach import LauncherReach


def shown_for(**asked: object) -> str:
    reach = LauncherReach()
    reach.follow(RunConfig(**asked))
    until(lambda: "Asking" not in reach.box.value)
    return str(reach.box.value)


def test_nothing_is_shown_for_this_machine() -> None:
    assert shown_for() == ""


def test_the_resources_of_a_new_ray_are_shown() -> None:
    pytest.importorskip("ray")
    assert "CPUs" in shown_for(launcher="ray")


def test_an_address_without_an_answer_is_shown() -> None:
    pytest.importorskip("ray")
    nobody = f"127.0.0.1:{free_ports(1)[0]}"
    assert "Connection refused" in shown_for(launcher="ray", ray_address=nobody)


def test_a_missing_slurm_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert "sinfo is not on this machine" in shown_for(launcher="slurm")


def test_kubernetes_needs_a_manifest_that_the_user_applies() -> None:
    assert "manifest" in shown_for(launcher="kubernetes")
