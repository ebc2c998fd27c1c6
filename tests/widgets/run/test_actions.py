"""The actions on the opened run: one at a time."""

from threading import Event

from tests.waiting import until
from workbench.widgets.run.actions import RunActions


def test_an_action_during_another_action_is_refused_by_name() -> None:
    reports: list[tuple[str, str]] = []
    actions, gate = RunActions(lambda level, text: reports.append((level, text))), Event()
    actions._begin("Resuming", gate.wait, lambda _: None)
    actions._begin("Deleting", gate.wait, lambda _: None)
    refusal = (
        "Only one action runs at a time; received deleting during resuming. Try again in a moment."
    )
    assert reports == [("info", "Resuming ..."), ("error", refusal)]
    gate.set()
    until(lambda: reports[-1] == ("info", ""))
    actions._begin("Deleting", gate.wait, lambda _: None)
    assert ("info", "Deleting ...") in reports
