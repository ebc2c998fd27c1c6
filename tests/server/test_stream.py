"""The socket of a page: told what it watches, and nothing else."""

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
    """Return a frame's message and buffers, read as `frames` says they are laid out."""
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

    async def hear(self) -> tuple[dict[str, Any], list[bytes]]:
        frame = await asyncio.wait_for(self.socket.read_message(), LIMIT_SECONDS)
        assert frame is not None, "the socket was closed"
        return unpacked(frame)


async def opened(fetch: Open) -> Page:
    return Page(await fetch("workbench", "stream"))


def ready(run: Run, view: str = "a") -> dict[str, Any]:
    message = {"kind": "ready", "id": "1", "view": view, "version": 2}
    return {"channel": "run", "folder": "", "run": run.id, "message": message}


def end(run: Run, state: str) -> None:
    """Have a run that is over be over in another state."""
    with (run.dir / "events.jsonl").open("a") as file:
        file.write(json.dumps({"time": 1.0, "event": "state", "state": state}) + "\n")


async def test_devices_are_told_again_and_again_until_nobody_watches(
    jp_ws_fetch: Open, run: Run, jp_serverapp: Any
) -> None:
    page = await opened(jp_ws_fetch)
    await page.ask(channel="devices", kind="watch", seconds=0.5)
    for _ in range(2):
        told, _ = await page.hear()
        assert told["meters"][0]["name"] == "Memory in use"
    manager = jp_serverapp.web_app.settings["workbench_manager"]
    assert manager.devices.heard
    await page.ask(channel="devices", kind="unwatch")
    await page.ask(channel="runs", kind="watch")
    while (await page.hear())[0]["channel"] == "devices":
        pass
    assert not manager.devices.heard


async def test_all_runs_are_told_first_then_those_that_changed(jp_ws_fetch: Open, run: Run) -> None:
    page = await opened(jp_ws_fetch)
    await page.ask(channel="runs", kind="watch", seconds=0.5)
    first, _ = await page.hear()
    assert (first["first"], first["whole"], first["rows"]) == (True, False, [])
    told, _ = await page.hear()
    assert [row["id"] for row in told["rows"]] == [run.id]
    assert told["whole"]
    other = write_run(run.dir.parent, steps=3, name="Other")
    told, _ = await page.hear()
    assert [row["title"] for row in told["rows"]] == ["Other"]
    end(other, "stopped")
    told, _ = await page.hear()
    assert [(row["id"], row["status"]) for row in told["rows"]] == [(other.id, "stopped")]
    shutil.rmtree(other.dir)
    told, _ = await page.hear()
    assert (told["rows"], told["gone"]) == ([], [other.id])
    late = await opened(jp_ws_fetch)
    await late.ask(channel="runs", kind="watch")
    told, _ = await late.hear()
    assert (told["first"], told["whole"]) == (True, True)
    assert [row["id"] for row in told["rows"]] == [run.id]


async def test_a_run_is_told_whole_then_what_is_new_to_every_page_alike(
    jp_ws_fetch: Open, run: Run
) -> None:
    one, other = await opened(jp_ws_fetch), await opened(jp_ws_fetch)
    await one.ask(**ready(run))
    told, buffers = await one.hear()
    while not told["message"]["parts"]:
        told, buffers = await one.hear()
    assert told["message"]["whole"]
    assert told["message"]["parts"]["head"]["id"] == run.id
    assert len(buffers[0]) == 3 * 8 * 20
    await other.ask(**ready(run, "b"))
    whole, same = await other.hear()
    assert same == buffers
    assert whole["message"]["sequence"] == told["message"]["sequence"]
    end(run, "stopped")
    for page in (one, other):
        news, _ = await page.hear()
        assert not news["message"]["whole"]
        assert news["message"]["sequence"] == told["message"]["sequence"] + 1


async def test_a_part_is_told_closer_to_who_asks(jp_ws_fetch: Open, run: Run) -> None:
    page = await opened(jp_ws_fetch)
    asked = {"firstStep": 2, "lastStep": 5, "mostPoints": 100}
    message = {"kind": "window", "request": "r", **asked}
    await page.ask(**{**ready(run), "message": message})
    told, buffers = await page.hear()
    assert told["message"]["request"] == "r"
    assert len(buffers[0]) == 3 * 8 * 4


async def test_a_page_that_hides_a_run_is_told_no_more_of_it(
    jp_ws_fetch: Open, run: Run, jp_serverapp: Any
) -> None:
    page = await opened(jp_ws_fetch)
    await page.ask(**ready(run))
    await page.hear()
    channel = jp_serverapp.web_app.settings["workbench_manager"].run("", run.id)
    assert channel.heard
    hidden = {"kind": "shown", "view": "a", "shown": False}
    await page.ask(**{**ready(run), "message": hidden})
    while channel.heard:
        await asyncio.sleep(0)
    shown = {"kind": "shown", "view": "a", "shown": True}
    await page.ask(**{**ready(run), "message": shown})
    while not channel.heard:
        await asyncio.sleep(0)
    page.socket.close()
    while channel.heard:
        await asyncio.sleep(0)


@pytest.mark.parametrize("name", ["not-there", "../x", "..", ""])
async def test_a_run_that_is_none_is_said(name: str, jp_ws_fetch: Open, run: Run) -> None:
    page = await opened(jp_ws_fetch)
    await page.ask(**{**ready(run), "run": name})
    told, _ = await page.hear()
    assert (told["channel"], told["run"]) == ("run", name)
    assert told["trouble"]


async def test_a_run_deleted_while_it_is_shown_is_said(jp_ws_fetch: Open, run: Run) -> None:
    page = await opened(jp_ws_fetch)
    await page.ask(**ready(run))
    await page.hear()
    shutil.rmtree(run.dir)
    told: dict[str, Any] = {}
    while "gone" not in told:
        content, _ = await page.hear()
        told = content["message"]["parts"]
    assert "cannot be shown" in told["gone"]


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
async def test_what_is_no_request_closes_the_socket(
    message: str, jp_ws_fetch: Open, run: Run
) -> None:
    page = await opened(jp_ws_fetch)
    await page.socket.write_message(message)
    assert await asyncio.wait_for(page.socket.read_message(), LIMIT_SECONDS) is None
    assert page.socket.close_code == 1008


def test_buffers_begin_where_numbers_may(run: Run) -> None:
    feed = RunFeed(run)
    message = feed.news(None)
    assert message is not None
    frame = packed({"message": message.content}, [b"abc", *message.buffers])
    content, buffers = unpacked(frame)
    assert content["message"] == message.content
    assert buffers == [b"abc", *message.buffers]
