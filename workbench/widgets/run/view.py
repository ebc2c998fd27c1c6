"""The opened run. A thread follows it, and the page's run view or the plain view shows it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import ipywidgets as ipw

from workbench.feed import VERSION, Message, Polling, RunFeed
from workbench.runs import Run, RunError, Summary
from workbench.widgets.kernel.download import DownloadWidget
from workbench.widgets.kernel.host import CellClock
from workbench.widgets.kernel.poller import Poller
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import column, html, styled

from .actions import RunActions
from .plain_view import PlainView
from .widget import RunWidget

WHOLE_SECONDS = 2.0
HEARING_SECONDS = 60.0
"""A page's silence has a meaning only after this many seconds without a running cell."""
PLAIN_SECONDS = 5.0
ANSWER_SECONDS = 5.0
BEGINS = ("queued", "starting", "running")
"""The states with which a run begins, or begins again."""
PACKED = "Config, plan, script, records, events, model and the last checkpoint in one file"
OTHER_VERSION = (
    "The run view of this page has version {theirs}, but the workbench of the kernel has version "
    "{ours}. Save the notebook and reload the page."
)


class RunView:
    """A view that shows the opened run and follows it in a separate thread."""

    def __init__(self) -> None:
        self.run: Run | None = None
        self.actions = RunActions(self._note)
        self._lock = threading.RLock()
        self._poller: Poller | None = None
        self._over = threading.Event()
        self._on_summary: Callable[[Summary, RunFeed], None] = lambda summary, feed: None
        self._wanted: Callable[[Run], None] = self.open
        self._page_came: Callable[[], None] = lambda: None
        self._feed: RunFeed | None = None
        self._widget = self._make_widget()
        self._download = DownloadWidget("Download run (.zip)", PACKED)
        self._message = html(description="Messages of the run view")
        self._told = ""
        """The level of the message if it is the result of an action: info or error."""
        self._state = ("", "")
        """The newest state of the run, and its own note."""
        self._plain: PlainView | None = None
        self._answered = False
        self._opened_at = 0.0
        self._cells = CellClock()
        self._plain_summary: Summary | None = None
        self._plain_due_at = 0.0
        self._plain_place = column()
        self.box = styled(
            ipw.VBox,
            "wb-run",
            children=[
                *(self.actions.agreeing.box, self._widget, self._plain_place),
                *(self._message, self._download),
            ],
        )

    def on_summary(self, listener: Callable[[Summary, RunFeed], None]) -> None:
        """Call `listener` with each new summary of the run, in the thread that follows the run."""
        self._on_summary = listener

    def on_page(self, came: Callable[[], None]) -> None:
        """Call `came` when a page shows the view, also a page that was loaded again."""
        self._page_came = came

    def on_wanted(self, wanted: Callable[[Run], None]) -> None:
        """Call `wanted`, instead of showing the run here, with a run that this run waits for."""
        self._wanted = wanted

    def open(self, run: Run) -> None:
        """Show this run from its beginning and follow it. Return immediately.

        A run that is over is still checked now and then, because others may resume or delete it.
        """
        with self._lock:
            self._stop_following()
            try:
                feed = RunFeed(run)
            except RunError as error:
                self._widget.follow(None)
                self._message.value = markup.notice("error", f"The run cannot be shown: {error}")
                return
            self.run, self._feed = run, feed
            self._opened_at = time.monotonic()
            self._download.offer(run.pack)
            self._widget.follow(feed)
            self._show_plainly(None)
            follower = _Follower(
                feed, lambda: self._widget, self._cells, self._show, self._stand_in
            )
            self._poller = Poller(follower.poll, lambda error: self._failed(feed, error))

    def reveal(self) -> None:
        """Scroll the pages to the opened run."""
        self._widget.reveal()

    def close(self) -> None:
        """Show no run; the run itself goes on."""
        with self._lock:
            self._stop_following()
            self._widget.follow(None)
            self._show_plainly(None)

    def end(self) -> None:
        """Close the view for good."""
        self.close()
        self._cells.close()

    def wait(self, timeout_seconds: float | None = None) -> bool:
        """Wait until the opened run is over and shown. Return False if the time ran out before."""
        return self.run is None or self._over.wait(timeout_seconds)

    def _stop_following(self) -> None:
        if self._poller is not None:
            self._poller.stop()
        self.run = self._feed = self._poller = None
        self._download.offer(None)
        self._over.clear()
        self.actions.agreeing.clear()
        self._told = self._message.value = ""

    def _show(self, summary: Summary, feed: RunFeed) -> None:
        if self.run is feed.run:
            self._on_summary(summary, feed)
            self._overtake(summary)
        with self._lock:
            if self.run is feed.run and not summary.alive:
                self._over.set()

    def _overtake(self, summary: Summary) -> None:
        """Remove the result of an action when the run's state changes: an error, when it begins."""
        state = (summary.status, summary.progress.note)
        with self._lock:
            began = summary.status in BEGINS and summary.status != self._state[0]
            if state != self._state and (self._told == "info" or (self._told and began)):
                self._told = self._message.value = ""
            self._state = state

    def _stand_in(self, summary: Summary, feed: RunFeed) -> None:
        """Show the run in the plain view, at a low rate, as long as no page has answered."""
        with self._lock:
            now = time.monotonic()
            if self.run is not feed.run or not self._needs_plain():
                return
            if summary is self._plain_summary or now < self._plain_due_at:
                return
            self._show_plainly(self._plain or PlainView(self._act))
            assert self._plain is not None
            self._plain.show(summary, feed)
            self._plain_summary, self._plain_due_at = summary, now + PLAIN_SECONDS

    def _needs_plain(self) -> bool:
        """Return whether the page's time to answer is over. None can answer while a cell runs."""
        idle_since = self._cells.idle_since
        if self._answered or idle_since is None:
            return False
        return time.monotonic() - max(idle_since, self._opened_at) > ANSWER_SECONDS

    def _show_plainly(self, view: PlainView | None) -> None:
        if view is not self._plain:
            self._plain, self._plain_summary, self._plain_due_at = view, None, 0.0
            self._plain_place.children = [] if view is None else [view.box]

    def _on_answer(self, version: int) -> None:
        if version != VERSION:
            text = OTHER_VERSION.format(theirs=version, ours=VERSION)
            self._message.value = markup.notice("error", text)
            return
        with self._lock:
            self._answered = True
            self._show_plainly(None)
        self._page_came()

    def _make_widget(self) -> RunWidget:
        return RunWidget(self._on_answer, self._act, self._on_open, self._renew_widget)

    def _renew_widget(self) -> None:
        """Give the page a new widget instead of the one from which it receives nothing."""
        with self._lock:
            deaf, self._widget = self._widget, self._make_widget()
            self._widget.follow(self._feed)
            parts = self.box.children
            self.box.children = [self._widget if part is deaf else part for part in parts]
        deaf.close()

    def _act(self, name: str, epochs: int | None, task: str) -> None:
        run = self.run
        if run is not None:
            self.actions.act(run, name, epochs, task)

    def _on_open(self, run_id: str) -> None:
        """Open another run of the same folder of runs."""
        if self.run is None:
            return
        try:
            wanted = Run(self.run.dir.parent / Path(run_id).name)
        except RunError as error:
            self._note("error", str(error))
        else:
            self._wanted(wanted)

    def _note(self, level: str, text: str) -> None:
        self._widget.note(level, text)
        if self._plain is not None:
            self._told = level
            self._message.value = markup.notice(level, text) if text else ""

    def _failed(self, feed: RunFeed, error: Exception) -> None:
        message = feed.end(f"The run cannot be shown: {error}")
        self._widget.send_news(feed, message, unseen=True)
        self._over.set()
        if self._plain is not None:
            self._message.value = markup.notice("error", str(error))


class _Follower:
    """A follower of one run. Each poll gives news to the page and to the plain view."""

    def __init__(
        self,
        feed: RunFeed,
        widget: Callable[[], RunWidget],
        cells: CellClock,
        show: Callable[[Summary, RunFeed], None],
        stand_in: Callable[[Summary, RunFeed], None],
    ) -> None:
        self._feed, self._widget, self._cells = feed, widget, cells
        self._show, self._stand_in = show, stand_in
        self._polling = Polling(feed)
        self._whole_due_at = 0.0
        self._unsent = False

    def poll(self) -> float:
        """Poll once, and return the seconds until the next poll."""
        poll = self._polling.poll(watched=self._widget().watched)
        self._send(poll.news)
        if poll.summary is not None:
            self._show(poll.summary, self._feed)
        if (last := self._polling.last) is not None:
            self._stand_in(last, self._feed)
        return poll.pause_seconds

    def _send(self, news: Message | None) -> None:
        """Send the news if a page is in sight.

        While a cell runs, no page can report that it is in sight. Then the complete state is sent
        now and then.
        """
        now, idle_since = time.monotonic(), self._cells.idle_since
        if idle_since is not None and now - idle_since > HEARING_SECONDS:
            self._widget().forget_silent()
        if self._widget().watched:
            self._unsent = False
            if news is not None:
                self._widget().send_news(self._feed, news)
            return
        self._unsent = self._unsent or news is not None
        if self._unsent and idle_since is None and now >= self._whole_due_at:
            self._unsent, self._whole_due_at = False, now + WHOLE_SECONDS
            self._widget().send_news(self._feed, self._feed.whole(), unseen=True)
