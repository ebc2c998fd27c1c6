"""The run view in a notebook: passes a feed on to its pages, and back what they ask."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import anywidget

from workbench.feed import VERSION, Message, nothing
from workbench.runs.records.live import Window
from workbench.widgets.kernel.watchers import Watchers
from workbench.widgets.static import STATIC

if TYPE_CHECKING:
    from workbench.feed import RunFeed


DEAF_SECONDS = 5.0
"""A page that still asks so long after it was answered does not hear.

anywidget 0.11 gives a page two seconds to load a widget's code; after that it drops all that the
kernel says, although what is drawn later can be seen and speaks.
"""
Act = Callable[[str, int | None, str], None]
"""Its name, the epochs in all of a run that is trained on, and the task that is killed."""


class RunWidget(anywidget.AnyWidget):
    """Shows the feed it is given in any number of pages; sends nothing where none is in sight.

    What is sent goes to all pages, and each can tell what it has already. What they ask is
    handled by the kernel's main thread, so it waits while a cell runs; `send_news` does not.
    """

    _esm = STATIC / "runview.js"
    _css = STATIC / "runview.css"

    def __init__(
        self, on_answer: Callable[[int], None], act: Act, on_deaf: Callable[[], None]
    ) -> None:
        """Be shown once a page makes it.

        Args:
            on_answer: hears the version of a page that is there.
            act: hears what a person wants done.
            on_deaf: called where a page hears nothing of this widget and never will.
        """
        super().__init__()
        self._guard = threading.Lock()
        self._on_answer, self._act, self._on_deaf = on_answer, act, on_deaf
        self._asked_at: dict[str, float] = {}
        """When a page's question came that it asks again until it hears."""
        self._feed: RunFeed | None = None
        self._watchers = Watchers()
        self._done: set[str] = set()
        """Actions that were done: a page asks again until it hears."""
        self.on_msg(self._on_message)

    @property
    def watched(self) -> bool:
        """Whether a page has the view in sight."""
        return bool(self._watchers)

    def forget_silent(self) -> None:
        """Forget pages that went without a word; to be called where pages could be heard."""
        self._watchers.forget_silent()

    def follow(self, feed: RunFeed | None) -> None:
        """Show this run, or none, in place of the earlier one."""
        with self._guard:
            self._feed = feed
            if feed is None:
                self._tell(nothing())

    def send_news(self, feed: RunFeed, message: Message, *, unseen: bool = False) -> None:
        """Pass on what a feed tells, if it is still the one that is shown and somebody looks.

        With `unseen` it is sent although nobody is known to.
        """
        with self._guard:
            if feed is self._feed and (unseen or self.watched):
                self._tell(message)

    def note(self, level: str, text: str) -> None:
        """Tell the person at the page what became of an action; `level` is info or error."""
        self.send({"kind": "note", "level": level, "text": text})

    def _tell(self, message: Message) -> None:
        self.send(message.content, message.buffers)

    def _on_message(self, _: Any, content: dict[str, Any], __: Any) -> None:
        handlers = {
            "ready": self._on_ready,
            "shown": self._on_shown,
            "looking": self._watchers.hear,
            "window": self._on_window,
            "action": self._on_action,
        }
        handler = handlers.get(content.get("kind", ""))
        if handler is not None:
            handler(content)

    def _on_ready(self, content: dict[str, Any]) -> None:
        version = int(content.get("version", 1))
        self._on_answer(version)
        if version != VERSION:
            return
        self._watchers.hear(content)
        now = time.monotonic()
        if now - self._asked_at.setdefault(content["id"], now) > DEAF_SECONDS:
            self._on_deaf()
        else:
            self._tell_whole()

    def _on_shown(self, content: dict[str, Any]) -> None:
        self._watchers.hear(content)
        if content["shown"]:
            self._tell_whole()

    def _on_window(self, content: dict[str, Any]) -> None:
        feed = self._feed
        if feed is not None:
            asked = (content[name] for name in ("firstStep", "lastStep", "mostPoints"))
            self._tell(feed.closer(content["request"], Window(*map(int, asked))))

    def _on_action(self, content: dict[str, Any]) -> None:
        self.send({"kind": "heard", "id": content["id"]})
        if content["id"] not in self._done:
            self._done.add(content["id"])
            epochs = content.get("epochs")
            if self._feed is None or content["dir"] != str(self._feed.run.dir):
                self.note("error", "Another run is open by now; nothing was done.")
                return
            task = str(content.get("task", ""))
            self._act(content["name"], None if epochs is None else int(epochs), task)

    def _tell_whole(self) -> None:
        with self._guard:
            self._tell(self._feed.whole() if self._feed is not None else nothing())
