"""What a person does with the opened run: one thing at a time."""

from threading import Event

from tests.waiting import until
from workbench.widgets.run.actions import RunActions


def test_what_is_asked_for_amid_another_thing_is_refused_by_name() -> None:
    told: list[tuple[str, str]] = []
    actions, gate = RunActions(lambda level, text: told.append((level, text))), Event()
    actions._begin("Resuming", gate.wait, lambda _: None)
    actions._begin("Deleting", gate.wait, lambda _: None)
    refusal = (
        "One thing is done after another; received deleting during resuming. Try again in a moment."
    )
    assert told == [("info", "Resuming ..."), ("error", refusal)]
    gate.set()
    until(lambda: told[-1] == ("info", ""))
    actions._begin("Deleting", gate.wait, lambda _: None)
    assert ("info", "Deleting ...") in told
