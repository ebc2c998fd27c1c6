"""The run view's kernel half: answers, no messages without a visible page, actions, versions."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.widgets.folders import write_run
from workbench.feed import VERSION, RunFeed, parts_of
from workbench.widgets.kernel.watchers import SILENCE_SECONDS
from workbench.widgets.run import widget as run_widget
from workbench.widgets.run.widget import DEAF_SECONDS, STATIC, RunWidget


class Page:
    """A page that stores the messages of the kernel half and sends requests."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.received: list[dict[str, Any]] = []
        self.versions: list[int] = []
        self.acts: list[tuple[str, int | None]] = []
        self.opened: list[str] = []
        self.deaf = 0
        monkeypatch.setattr(
            RunWidget, "send", lambda _, content, *__: self.received.append(content)
        )
        self.widget = RunWidget(
            self.versions.append,
            lambda *act: self.acts.append(act),
            self.opened.append,
            self.note_deaf,
        )

    def note_deaf(self) -> None:
        self.deaf += 1

    def ask(self, kind: str, **content: Any) -> list[dict[str, Any]]:
        before = len(self.received)
        self.widget._handle_custom_msg({"kind": kind, **content}, [])
        return self.received[before:]

    def ready(self, view: str = "a") -> list[dict[str, Any]]:
        return self.ask("ready", id=f"{view}-0", view=view, version=VERSION)


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Page:
    return Page(monkeypatch)


@pytest.fixture
def feed(tmp_path: Path) -> RunFeed:
    feed = RunFeed(write_run(tmp_path))
    feed.news(parts_of(feed.run, feed.run.summary))
    return feed


def test_a_page_that_is_ready_gets_the_complete_state(page: Page, feed: RunFeed) -> None:
    page.widget.follow(feed)
    (run,) = page.ready()
    assert (run["kind"], run["whole"]) == ("run", True)
    assert run["parts"]["head"]["id"] == feed.run.id
    assert page.versions == [VERSION]


def test_a_page_that_asks_for_too_long_receives_nothing(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(run_widget, "time", SimpleNamespace(monotonic=lambda: now))
    assert page.ready()
    now += DEAF_SECONDS - 0.1
    assert page.ready()
    assert page.deaf == 0
    now += 0.2
    assert page.ready() == []
    assert page.deaf == 1
    assert page.ready("b")


def test_a_page_gets_an_empty_state_without_a_run(page: Page) -> None:
    assert page.ready()[-1]["parts"] == {}


def test_nothing_is_sent_while_no_page_shows_the_view(page: Page, feed: RunFeed) -> None:
    page.widget.follow(feed)
    page.widget.send_news(feed, feed.whole())
    assert page.received == []
    page.ready("a")
    page.ready("b")
    page.ask("shown", view="a", shown=False)
    assert page.widget.watched
    page.ask("shown", view="b", shown=False)
    assert not page.widget.watched
    before = len(page.received)
    page.widget.send_news(feed, feed.whole())
    assert len(page.received) == before
    assert page.ask("shown", view="a", shown=True)[-1]["whole"]


def test_news_of_a_run_that_is_no_longer_shown_is_dropped(
    page: Page, feed: RunFeed, tmp_path: Path
) -> None:
    page.widget.follow(feed)
    page.ready()
    other = RunFeed(write_run(tmp_path / "other"))
    page.widget.follow(other)
    before = len(page.received)
    page.widget.send_news(feed, feed.whole())
    assert len(page.received) == before


def test_closing_the_run_empties_the_page(page: Page, feed: RunFeed) -> None:
    page.widget.follow(feed)
    page.ready()
    page.widget.follow(None)
    assert page.received[-1]["parts"] == {}
    assert page.received[-1]["whole"]


def test_an_action_is_confirmed_and_done(page: Page, feed: RunFeed) -> None:
    page.widget.follow(feed)
    here = str(feed.run.dir)
    answer = [{"kind": "heard", "id": "a-1"}]
    assert page.ask("action", id="a-1", name="stop", dir=here) == answer
    page.ask("action", id="a-2", name="train_on", dir=here, epochs=8)
    assert page.acts == [("stop", None, ""), ("train_on", 8, "")]


def test_an_action_for_a_run_that_is_no_longer_open_is_refused(page: Page, feed: RunFeed) -> None:
    page.widget.follow(feed)
    _, note = page.ask("action", id="a-1", name="delete", dir="/runs/another")
    assert note["level"] == "error"
    assert page.acts == []


def test_pages_that_left_silently_are_forgotten(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.ready("a")
    page.widget.forget_silent()
    assert page.widget.watched
    later = time.monotonic() + 2 * SILENCE_SECONDS
    monkeypatch.setattr(time, "monotonic", lambda: later)
    page.ask("looking", view="b")
    page.widget.forget_silent()
    assert page.widget.watched
    page.ask("shown", view="b", shown=False)
    assert not page.widget.watched


def test_a_repeated_request_for_an_action_is_done_once(page: Page, feed: RunFeed) -> None:
    page.widget.follow(feed)
    for _ in range(2):
        page.ask("action", id="a-1", name="stop", dir=str(feed.run.dir))
    assert page.acts == [("stop", None, "")]


def test_an_answer_names_its_request(page: Page, feed: RunFeed) -> None:
    page.widget.follow(feed)
    answer = page.ask("window", request="a-7", firstStep=10, lastStep=20, mostPoints=100)[0]
    assert (answer["kind"], answer["request"]) == ("window", "a-7")


def test_a_page_of_another_version_is_reported_and_gets_no_messages(page: Page) -> None:
    assert page.ask("ready") == []
    assert page.ask("ready", id="a-0", view="a", version=VERSION + 1) == []
    assert page.versions == [1, VERSION + 1]
    assert not page.widget.watched


def test_the_front_end_is_built_and_small() -> None:
    scripts = ("colors", "copy", "download", "gauge", "heads", "runview")
    built = {"runview.css", *(f"{name}.js" for name in scripts)}
    assert {path.name for path in STATIC.iterdir()} == built
