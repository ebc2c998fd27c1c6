"""A cell that waits for a run, for hosts that end a kernel which seems idle.

`await follow()` keeps the buttons working while it waits. ipykernel 7.4 and newer pass widget
messages to a cell that awaits. ipykernel 6 (Colab) queues them behind the cell, so this module
takes them from its queue. Without `await` the cell waits too, but the buttons are answered only
when it ends. An interrupt of the cell ends the waiting, never the run. The cell then offers both:
to stop the run, or to leave it running.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

import ipywidgets as ipw

from workbench.runs.folder.state import LIVE
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import html

if TYPE_CHECKING:
    from workbench.runs import Run

POLL_SECONDS = 0.2
COMM_MESSAGES = ("comm_msg", "comm_open", "comm_close")


class Following:
    """An object that waits for a run when it is awaited, or when it is the last line of a cell.

    `waits` is called with True when the waiting begins, and with False when it ends.
    """

    def __init__(
        self,
        run: Run | None,
        show: Callable[[Any], None],
        waits: Callable[[bool], None] = lambda _: None,
    ) -> None:
        self._run, self._show, self._waits = run, show, waits

    def __await__(self) -> Generator[Any, None, str]:
        return self._wait().__await__()

    def _ipython_display_(self) -> None:
        """Wait without `await`, in a way that works in every kernel."""
        if self._run is None:
            self._say("There is no run to wait for. Click Train to start one.")
            return
        self._say(
            "Waiting for the run. Buttons work again when this cell ends; with `await follow()` "
            "they work at any time. Interrupt the cell to stop waiting."
        )
        self._waits(True)
        try:
            while self._run.status in LIVE:
                time.sleep(POLL_SECONDS)
        except KeyboardInterrupt:
            self._offer(self._run)
        else:
            self._say_end(self._run)
        finally:
            self._waits(False)

    async def _wait(self) -> str:
        run = self._run
        if run is None:
            self._say("There is no run to wait for. Click Train to start one.")
            return "no run"
        clicks = _QueuedClicks()
        self._waits(True)
        try:
            while run.status in LIVE:
                await clicks.serve()
                await asyncio.sleep(POLL_SECONDS)
        except (KeyboardInterrupt, asyncio.CancelledError):
            self._offer(run)
        else:
            self._say_end(run)
        finally:
            clicks.put_back()
            self._waits(False)
        return run.status

    def _offer(self, run: Run) -> None:
        text = html(description="Question")
        text.value = markup.notice(
            "info", f"{run.title} is still running. Stop it, or leave it running?"
        )

        def stop(_: Any) -> None:
            run.stop()
            answered("Asked to stop: the run finishes its step and saves a checkpoint.")

        def detach(_: Any) -> None:
            answered("The run continues by itself; open the workbench again to see it.")

        def answered(message: str) -> None:
            text.value = markup.notice("info", message)
            row.children = [text]

        buttons = [
            ipw.Button(description="Stop the run", tooltip="Save and end", button_style="danger"),
            ipw.Button(description="Leave it running", tooltip="Detach from the run"),
        ]
        for button, clicked in zip(buttons, (stop, detach), strict=True):
            button.on_click(clicked)
        row = ipw.HBox([text, *buttons])
        self._show(row)

    def _say(self, message: str) -> None:
        self._show(html(markup.notice("info", message), description="Following"))

    def _say_end(self, run: Run) -> None:
        self._say(f"{run.title}: {run.status}.")


class _QueuedClicks:
    """Widget messages that ipykernel 6 holds back while a cell runs."""

    def __init__(self) -> None:
        self._kernel = _kernel()
        self._queue = getattr(self._kernel, "msg_queue", None)
        self._others: list[tuple[Any, ...]] = []

    async def serve(self) -> None:
        """Handle the waiting widget messages. All other messages are kept in their order."""
        if self._queue is None:
            return
        while self._queue.qsize():
            entry = self._queue.get_nowait()
            if self._kind(entry) in COMM_MESSAGES:
                await self._dispatch(entry)
            else:
                self._others.append(entry)

    def put_back(self) -> None:
        """Put the messages that are not for widgets back into the queue, in their order."""
        if self._queue is None:
            return
        later = [self._queue.get_nowait() for _ in range(self._queue.qsize())]
        for entry in (*self._others, *later):
            self._queue.put_nowait(entry)

    def _kind(self, entry: tuple[Any, ...]) -> str:
        *_, arguments = entry
        try:
            _, frames = self._kernel.session.feed_identities(list(arguments[0]), copy=False)
            return str(json.loads(frames[1].bytes)["msg_type"])
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            return ""

    async def _dispatch(self, entry: tuple[Any, ...]) -> None:
        """Handle a message, then restore the cell's parent message and interrupt handler."""
        *_, dispatch, arguments = entry
        kernel = self._kernel
        parent, ident = kernel.get_parent("shell"), kernel._parent_ident.get("shell")
        handler = getattr(kernel, "saved_sigint_handler", None)
        try:
            await dispatch(*arguments)
        finally:
            kernel.set_parent(ident, parent, "shell")
            kernel.saved_sigint_handler = handler


def _kernel() -> Any:
    from IPython import get_ipython

    shell = get_ipython()
    return getattr(shell, "kernel", None)
