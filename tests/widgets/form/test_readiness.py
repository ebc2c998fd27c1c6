"""The preparation while the form is filled in, with a small module instead of TensorFlow."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.machines import LAPTOP
from tests.waiting import until
from tests.widgets.pages import part_of
from workbench import RunConfig
from workbench.forking import fork_server
from workbench.runs.supervise.queue import Ticket
from workbench.widgets.form.form import Form
from workbench.widgets.form.readiness import LOADING, READY, Readiness
from workbench.widgets.form.train_button import TrainButton


@pytest.fixture
def readiness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Readiness]:
    monkeypatch.setenv("WORKBENCH_STATE", str(tmp_path / "state"))
    monkeypatch.setattr(fork_server, "TENSORFLOW", ("json",))
    monkeypatch.setattr(fork_server, "LEGACY", ("csv",))
    made = Readiness()
    yield made
    held = made._server
    made.close()
    if held is not None:
        until(lambda: held.state in ("absent", "refused"))


def shows(readiness: Readiness, text: str) -> Callable[[], bool]:
    return lambda: text in readiness.box.value


def test_the_line_shows_when_train_starts_immediately(readiness: Readiness) -> None:
    assert readiness.box.value == ""
    readiness.ask(sys.executable, legacy=False)
    until(shows(readiness, READY))
    server = readiness._server
    readiness.ask(sys.executable, legacy=False)
    assert readiness._server is server


def test_the_line_follows_the_queue_for_the_devices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_STATE", str(tmp_path / "state"))
    monkeypatch.setattr(fork_server, "TENSORFLOW", ("json",))
    button, form = TrainButton(tmp_path, lambda: LAPTOP), Form(RunConfig(), LAPTOP)
    line = part_of(button.messages, "Readiness")
    button.show_form(form.state, "")
    button.edited(form.state.config)
    until(lambda: READY in line.value)
    ticket = Ticket.draw(tmp_path / "state", tmp_path / "0001", ("CPU:0",), start_now=True)
    until(lambda: "TensorFlow is loaded. A new run waits for CPU:0 behind 0001." in line.value)
    ticket.give_back()
    until(lambda: READY in line.value)
    button.close()
    until(lambda: line.value == "")


def test_another_keras_has_its_own_server(readiness: Readiness) -> None:
    readiness.ask(sys.executable, legacy=False)
    until(shows(readiness, READY))
    first = readiness._server
    readiness.ask(sys.executable, legacy=True)
    until(lambda: first is not None and first.state == "absent")
    until(lambda: readiness._server is not None and readiness._server.state == "ready")
    assert readiness._server is not first
    until(shows(readiness, READY))


def test_an_ended_server_is_not_shown_and_is_started_again(readiness: Readiness) -> None:
    readiness.ask(sys.executable, legacy=False)
    until(shows(readiness, READY))
    server = readiness._server
    assert server is not None
    (server.folder / f"{server.name}.socket").unlink()
    until(lambda: readiness.box.value == "")
    readiness.ask(sys.executable, legacy=False)
    until(shows(readiness, READY))


def test_the_reason_is_shown_if_nothing_can_be_forked(
    readiness: Readiness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fork_server, "TENSORFLOW", ("no_such_module",))
    readiness.ask(sys.executable, legacy=False)
    until(shows(readiness, "not be loaded in advance; Train loads it: ModuleNotFoundError"))
    assert not shows(readiness, LOADING)()


def test_train_reports_an_interpreter_that_cannot_be_started(
    readiness: Readiness, tmp_path: Path
) -> None:
    readiness.ask(str(tmp_path / "python"), legacy=False)
    until(lambda: not readiness._follows)
    assert readiness.box.value == ""
    readiness.ask(sys.executable, legacy=False)
    until(shows(readiness, READY))


def test_the_line_is_empty_if_no_server_is_needed(readiness: Readiness) -> None:
    readiness.ask(sys.executable, legacy=False)
    until(shows(readiness, READY))
    server = readiness._server
    readiness.rest()
    assert readiness.box.value == ""
    until(lambda: server is not None and server.state == "absent")
