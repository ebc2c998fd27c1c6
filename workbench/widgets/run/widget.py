"""The run view in a notebook. It passes a feed to its pages, and their requests back."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import anywidget

from workbench.feed import VERSION, Message, nothing
from workbench.runs.records.live import Window
from workbench.widgets.kernel.watchers import Watchers
from workbench.widgets.parts.page_parts import shared_layout
from workbench.widgets.static import STATIC

if TYPE_CHECKING:
    from workbench.feed import RunFeed


DEAF_SECONDS = 5.0
"""A page receives no messages if it still asks this many seconds after its first question.

anywidget 0.11 gives a page two seconds to load a widget's code. After that it drops all messages
of the kernel. Yet a widget that is drawn later is visible and can send messages.
"""
Act = Callable[[str, int | None, str], None]
"""The function that does an action, given its name, total epochs (train_on) and task (kill)."""


class RunWidget(anywidget.AnyWidget):
    """A widget that shows its feed in any number of pages. It sends no news if none is in sight.

    Each message goes to all pages, and each page recognizes the parts that it has already. The
    kernel's main thread handles the requests of pages, so they wait while a cell runs.
    `send_news` does not wait.
    """

    _esm = STATIC / "runview.js"
    _css = STATIC / "runview.css"

    def __init__(
        self,
        on_answer: Callable[[int], None],
        act: Act,
        on_open: Callable[[str], None],
        on_deaf: Callable[[], None],
    ) -> None:
        """Make the widget. It is shown once a page draws it.

        Args:
            on_answer: called with the version of each page that answers.
            act: called with each action that a person requests.
            on_open: called with the id of each other run that a person wants to see.
            on_deaf: called if a page receives nothing from this widget and never will.
        """
        super().__init__(layout=shared_layout(visible=True))
        self._guard = threading.Lock()
        self._on_answer, self._act, self._on_deaf = on_answer, act, on_deaf
        self._on_open = on_open
        self._asked_at: dict[str, float] = {}
        """The monotonic time at which each question first came.

        A page repeats its question until it receives an answer.
        """
        self._feed: RunFeed | None = None
        self._watchers = Watchers()
        self._done: set[str] = set()
        """The ids of finished actions. A page repeats its request until it receives an answer."""
        self.on_msg(self._on_message)

    @property
    def watched(self) -> bool:
        """Whether a page has the view in sight."""
        return bool(self._watchers)

    def forget_silent(self) -> None:
        """Forget pages that left silently. Call this only if pages' messages could arrive."""
        self._watchers.forget_silent()

    def follow(self, feed: RunFeed | None) -> None:
        """Show the run of this feed, or no run, instead of the earlier run."""
        with self._guard:
            self._feed = feed
            if feed is None:
                self._send_message(nothing())

    def send_news(self, feed: RunFeed, message: Message, *, unseen: bool = False) -> None:
        """Send a feed's message, if this feed is still shown and a page is in sight.

        With `unseen` the message is sent even if no page is known to be in sight.
        """
        with self._guard:
            if feed is self._feed and (unseen or self.watched):
                self._send_message(message)

    def reveal(self) -> None:
        """Scroll the pages to the run, because a person has opened it in a list."""
        self.send({"kind": "reveal"})

    def note(self, level: str, text: str) -> None:
        """Show the person at the page the result of an action; `level` is info or error."""
        self.send({"kind": "note", "level": level, "text": text})

    def _send_message(self, message: Message) -> None:
        self.send(message.content, message.buffers)

    def _on_message(self, _: Any, content: dict[str, Any], __: Any) -> None:
        handlers = {
            "ready": self._on_ready,
            "shown": self._on_shown,
            "looking": self._watchers.record,
            "window": self._on_window,
            "action": self._on_action,
            "open": self._on_open_asked,
        }
        handler = handlers.get(content.get("kind", ""))
        if handler is not None:
            handler(content)

    def _on_ready(self, content: dict[str, Any]) -> None:
        version = int(content.get("version", 1))
        self._on_answer(version)
        if version != VERSION:
            return
        self._watchers.record(content)
        now = time.monotonic()
        if now - self._asked_at.setdefault(content["id"], now) > DEAF_SECONDS:
            self._on_deaf()
        else:
            self._send_whole()

    def _on_shown(self, content: dict[str, Any]) -> None:
        self._watchers.record(content)
        if content["shown"]:
            self._send_whole()

    def _on_window(self, content: dict[str, Any]) -> None:
        feed = self._feed
        if feed is not None:
            asked = (content[name] for name in ("firstStep", "lastStep", "mostPoints"))
            self._send_message(feed.closer(content["request"], Window(*map(int, asked))))

    def _on_open_asked(self, content: dict[str, Any]) -> None:
        if self._is_new(content):
            self._on_open(str(content["run"]))

    def _is_new(self, content: dict[str, Any]) -> bool:
        """Acknowledge a request; return whether it comes for the first time."""
        self.send({"kind": "heard", "id": content["id"]})
        new = content["id"] not in self._done
        self._done.add(content["id"])
        return new

    def _on_action(self, content: dict[str, Any]) -> None:
        if self._is_new(content):
            epochs = content.get("epochs")
            if self._feed is None or content["dir"] != str(self._feed.run.dir):
                self.note("error", "Another run was opened; nothing was done.")
                return
            task = str(content.get("task", ""))
            self._act(content["name"], None if epochs is None else int(epochs), task)

    def _send_whole(self) -> None:
        with self._guard:
            self._send_message(self._feed.whole() if self._feed is not None else nothing())
