"""The socket of a page: it gets the frames of the channels that it watches, and no others."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tornado.websocket import WebSocketClientConnection

from tests.waiting import LIMIT_SECONDS
from tests.widgets.folders import write_run
from workbench.feed import RunFeed
from workbench.runs import Run
from workbench.server.frames import packed

Open = Callable[..., Awaitable[WebSocketClientConnection]]


def unpacked(frame: str | bytes) -> tuple[dict[str, Any], list[bytes]]:
    """Return a frame's message and buffers, read by the layout that `frames` describes."""
    if isinstance(frame, str):
        return json.loads(frame), []
    at = 4 + int.from_bytes(frame[:4], "little")
    content = json.loads(frame[4:at])
    buffers = []
    for size in content.pop("bufferBytes"):
        assert at % 8 == 0
        buffers.append(frame[at : at + size])
        at += size + -size % 8
    return content, buffers


class Page:
    """A page's end of the socket."""

    def __init__(self, socket: WebSocketClientConnection) -> None:
        self.socket = socket

    async def ask(self, **asked: Any) -> None:
        await self.socket.write_message(json.dumps(asked))

    async def receive(self) -> tuple[dict[str, Any], list[bytes]]:
        frame = await asyncio.wait_for(self.socket.read_message(), LIMIT_SECONDS)
        assert frame is not None, "the socket was closed"
        return unpacked(frame)


async def opened(fetch: Open) -> Page:
    return Page(await fetch("workbench", "stream"))


def ready(run: Run, view: str = "a") -> dict[str, Any]:
    message = {"kind": "ready", "id": "1", "view": view, "version": 2}
    return {"channel": "run", "folder": "", "run": run.id, "message": message}


def end(run: Run, state: str) -> None:
    """Give a run that has ended another final state."""
    with (run.dir / "events.jsonl").open("a") as file:
        file.write(json.dumps({"time": 1.0, "event": "state", "state": state}) + "\n")


async def test_the_load_of_devices_is_sent_until_nobody_watches(
    jp_ws_fetch: Open, run: Run, jp_serverapp: Any
) -> None:
    page = await opened(jp_ws_fetch)
    await page.ask(channel="devices", kind="watch", seconds=0.5)
    for _ in range(2):
        content, _ = await page.receive()
        assert content["meters"][0]["name"] == "Memory in use"
    manager = jp_serverapp.web_app.settings["workbench_manager"]
    assert manager.devices.has_listeners
    await page.ask(channel="devices", kind="unwatch")
    await page.ask(channel="runs", kind="watch")
    while (await page.receive())[0]["channel"] == "devices":
        pass
    assert not manager.devices.has_listeners


async def test_all_runs_are_sent_first_then_only_changed_runs(jp_ws_fetch: Open, run: Run) -> None:
    page = await opened(jp_ws_fetch)
    await page.ask(channel="runs", kind="watch", seconds=0.5)
    first, _ = await page.receive()
    assert (first["first"], first["whole"], first["rows"]) == (True, False, [])
    content, _ = await page.receive()
    assert [row["id"] for row in content["rows"]] == [run.id]
    assert content["whole"]
    other = write_run(run.dir.parent, steps=3, name="Other")
    content, _ = await page.receive()
    assert [row["title"] for row in content["rows"]] == ["Other"]
    end(other, "stopped")
    content, _ = await page.receive()
    assert [(row["id"], row["status"]) for row in content["rows"]] == [(other.id, "stopped")]
    shutil.rmtree(other.dir)
    content, _ = await page.receive()
    assert (content["rows"], content["gone"]) == ([], [other.id])
    late = await opened(jp_ws_fetch)
    await late.ask(channel="runs", kind="watch")
    content, _ = await late.receive()
    assert (content["first"], content["whole"]) == (True, True)
    assert [row["id"] for row in content["rows"]] == [run.id]


async def test_a_page_gets_the_complete_run_first_then_the_same_news_as_all_pages(
    jp_ws_fetch: Open, run: Run
) -> None:
    one, other = await opened(jp_ws_fetch), await opened(jp_ws_fetch)
    await one.ask(**ready(run))
    content, buffers = await one.receive()
    while not content["message"]["parts"]:
        content, buffers = await one.receive()
    assert content["message"]["whole"]
    assert content["message"]["parts"]["head"]["id"] == run.id
    assert len(buffers[0]) == 3 * 8 * 20
    await other.ask(**ready(run, "b"))
    whole, same = await other.receive()
    assert same == buffers
    assert whole["message"]["sequence"] == content["message"]["sequence"]
    end(run, "stopped")
    for page in (one, other):
        news, _ = await page.receive()
        assert not news["message"]["whole"]
        assert news["message"]["sequence"] == content["message"]["sequence"] + 1


async def test_a_page_gets_a_part_in_more_detail_on_request(jp_ws_fetch: Open, run: Run) -> None:
    page = await opened(jp_ws_fetch)
    asked = {"firstStep": 2, "lastStep": 5, "mostPoints": 100}
    message = {"kind": "window", "request": "r", **asked}
    await page.ask(**{**ready(run), "message": message})
    content, buffers = await page.receive()
    assert content["message"]["request"] == "r"
    assert len(buffers[0]) == 3 * 8 * 4


async def test_a_page_that_hides_a_run_gets_no_more_frames_of_it(
    jp_ws_fetch: Open, run: Run, jp_serverapp: Any
) -> None:
    page = await opened(jp_ws_fetch)
    await page.ask(**ready(run))
    await page.receive()
    channel = jp_serverapp.web_app.settings["workbench_manager"].run("", run.id)
    assert channel.has_listeners
    hidden = {"kind": "shown", "view": "a", "shown": False}
    await page.ask(**{**ready(run), "message": hidden})
    while channel.has_listeners:
        await asyncio.sleep(0)
    shown = {"kind": "shown", "view": "a", "shown": True}
    await page.ask(**{**ready(run), "message": shown})
    while not channel.has_listeners:
        await asyncio.sleep(0)
    page.socket.close()
    while channel.has_listeners:
        await asyncio.sleep(0)


@pytest.mark.parametrize("name", ["not-there", "../x", "..", ""])
async def test_a_missing_run_is_reported(name: str, jp_ws_fetch: Open, run: Run) -> None:
    page = await opened(jp_ws_fetch)
    await page.ask(**{**ready(run), "run": name})
    content, _ = await page.receive()
    assert (content["channel"], content["run"]) == ("run", name)
    assert content["error"]


async def test_a_run_deleted_while_it_is_shown_is_reported(jp_ws_fetch: Open, run: Run) -> None:
    page = await opened(jp_ws_fetch)
    await page.ask(**ready(run))
    await page.receive()
    shutil.rmtree(run.dir)
    parts: dict[str, Any] = {}
    while "gone" not in parts:
        content, _ = await page.receive()
        parts = content["message"]["parts"]
    assert "cannot be shown" in parts["gone"]


@pytest.mark.parametrize(
    "message",
    [
        "no json",
        "[]",
        "{}",
        '{"channel": "runs"}',
        '{"channel": "x", "kind": "watch"}',
        "1" * 2**17,
    ],
)
async def test_an_invalid_request_closes_the_socket(
    message: str, jp_ws_fetch: Open, run: Run
) -> None:
    page = await opened(jp_ws_fetch)
    await page.socket.write_message(message)
    assert await asyncio.wait_for(page.socket.read_message(), LIMIT_SECONDS) is None
    assert page.socket.close_code == 1008


def test_buffers_begin_at_aligned_positions(run: Run) -> None:
    feed = RunFeed(run)
    message = feed.news(None)
    assert message is not None
    frame = packed({"message": message.content}, [b"abc", *message.buffers])
    content, buffers = unpacked(frame)
    assert content["message"] == message.content
    assert buffers == [b"abc", *message.buffers]
