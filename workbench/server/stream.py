"""The socket of a page: the page asks for channels, and the server sends their frames."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Callable
from typing import Any, cast

from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import ws_authenticated
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from tornado import web
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from workbench.runs.records.live import Window

from .channels import POLL_SECONDS, Channel, Frame, RunChannel
from .errors import RequestError
from .frames import packed
from .manager import SETTING, Manager

Address = tuple[str, str, str]
"""The address of a channel: its kind, the folder of runs and the run's id, each empty if unused."""
MOST_BYTES = 2**16
"""The largest size of a message from a page."""
MOST_WAITING = 64
"""How many frames may wait for a slow page; at more, the socket closes and the page reconnects."""


class StreamHandler(WebSocketMixin, WebSocketHandler, JupyterHandler):
    """The handler that joins a page to the channels it asks for."""

    auth_resource = "workbench"

    def initialize(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._guard = threading.Lock()
        self._joined: dict[Address, Channel] = {}
        self._views: dict[Address, set[str]] = {}
        """The views of a run that are visible on the page; each view names itself."""
        self._waiting = 0

    @property
    def manager(self) -> Manager:
        return cast(Manager, self.settings[SETTING])

    def set_default_headers(self) -> None:
        """Leave out the headers of JupyterHandler, because they have no meaning for a socket."""

    @ws_authenticated
    async def get(self, *args: Any, **kwargs: Any) -> None:
        """Open the socket for users who may read runs; the socket changes nothing."""
        may = self.authorizer.is_authorized(self, self.current_user, "read", self.auth_resource)
        if not await ensure_async(may):
            raise web.HTTPError(403)
        await super().get(*args, **kwargs)

    async def on_message(self, message: str | bytes) -> None:
        """Do what a page asks; an invalid request closes the socket."""
        try:
            if len(message) > MOST_BYTES:
                raise ValueError(f"more than {MOST_BYTES} bytes")
            asked = json.loads(message)
            address: Address = (asked["channel"], asked.get("folder", ""), asked.get("run", ""))
            work = self._work(address, asked)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            self.close(1008, f"not a request of the workbench: {error}"[:100])
            return
        try:
            await self._loop.run_in_executor(self.manager.pool, work)
        except RequestError as error:
            names = zip(("channel", "folder", "run"), address, strict=True)
            self.pass_on(packed({**dict(names), "error": error.message}))

    def on_close(self) -> None:
        for address in list(self._joined):
            self.manager.pool.submit(self._leave, address)  # it may wait until a poll ends

    def pass_on(self, frame: Frame) -> None:
        """Send a frame; any thread can call this."""
        with contextlib.suppress(RuntimeError):  # the server ends and its loop is closed
            self._loop.call_soon_threadsafe(self._send, frame)

    def _send(self, frame: Frame) -> None:
        if self._waiting >= MOST_WAITING:
            self.close(1013, "too slow")
            return
        try:
            sent = self.write_message(frame, binary=isinstance(frame, bytes))
        except WebSocketClosedError:
            return
        self._waiting += 1
        sent.add_done_callback(self._on_sent)

    def _on_sent(self, sent: asyncio.Future[None]) -> None:
        self._waiting -= 1
        sent.exception()  # ignore the error of a socket that closed before the frame was sent

    def _work(self, address: Address, asked: dict[str, Any]) -> Callable[[], None]:
        """Return the work of a request, which must be done in a thread."""
        channel, folder, run = map(str, address)
        if channel == "run":
            message = dict(asked["message"])
            return lambda: self._on_run(address, self.manager.run(folder, run), message)
        channels: dict[str, Callable[[], Channel]] = {
            "devices": lambda: self.manager.devices,
            "runs": lambda: self.manager.runs(folder),
        }
        find = channels[channel]
        works: dict[str, Callable[[], None]] = {
            "watch": lambda: self._join(address, find(), float(asked.get("seconds", POLL_SECONDS))),
            "unwatch": lambda: self._leave(address),
        }
        return works[asked["kind"]]

    def _on_run(self, address: Address, channel: RunChannel, message: dict[str, Any]) -> None:
        """Do the request of a run's view; see `extension/src/runview/protocol.ts`."""
        views = self._views.setdefault(address, set())
        match message:
            case {"kind": "ready", "view": view} | {"kind": "shown", "view": view, "shown": True}:
                views.add(view)
                self._join(address, channel)
            case {"kind": "shown", "view": view}:
                views.discard(view)
                if not views:
                    self._leave(address)
            case {"kind": "window", "request": request, **asked}:
                numbers = (int(asked[name]) for name in ("firstStep", "lastStep", "mostPoints"))
                self.pass_on(channel.closer(str(request), Window(*numbers)))

    def _join(
        self, address: Address, channel: Channel, pause_seconds: float = POLL_SECONDS
    ) -> None:
        with self._guard:
            if self._joined.get(address, channel) is not channel:
                self._joined[address].leave(self)
            self._joined[address] = channel
            channel.join(self, self.pass_on, pause_seconds)
        if self.ws_connection is None or self.ws_connection.is_closing():
            self._leave(address)  # the socket closed before the page joined

    def _leave(self, address: Address) -> None:
        with self._guard:
            channel = self._joined.pop(address, None)
            if channel is not None:
                channel.leave(self)
