"""Security: every handler checks rights, and no request reaches files outside the runs."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPResponse

from tests.server.requests import EVERY, METHODS, options, status_of
from workbench.runs import Run
from workbench.server.channels import RunsChannel
from workbench.server.errors import RequestError
from workbench.server.folder import RunsFolder, runs_folder
from workbench.server.handlers import MOST_BYTES, handlers_at

Fetch = Callable[..., Awaitable[HTTPResponse]]
EVIL = "http://evil.example"


def test_there_are_handlers_to_check() -> None:
    assert {path for _, path in EVERY} >= {"runs", "devices", "stream"}
    assert ("post", "runs/some-run/resume") in EVERY


@pytest.mark.parametrize(("method", "path"), EVERY)
async def test_a_request_without_a_valid_token_gets_no_answer(
    method: str, path: str, jp_fetch: Fetch, runs_dir: Path
) -> None:
    headers = {"Authorization": "token wrong"}
    answer = jp_fetch(
        "workbench", *path.split("/"), headers=headers, follow_redirects=False, **options(method)
    )
    assert await status_of(answer) in (302, 403)


@dataclass(frozen=True)
class Browser:
    """A browser that knows a server by a name, and its cookies."""

    host: str
    cookies: dict[str, str] = field(default_factory=dict)

    def headers(self, origin: str = "", **more: str) -> dict[str, str]:
        """Return the headers of a request by a page of `origin`, without the tests' token."""
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        named = {"Authorization": "none", "Host": self.host, "Cookie": cookie}
        return {**named, "Origin": origin or f"http://{self.host}", **more}


async def logged_in(server: Any, fetch: Fetch) -> Browser:
    """Return a browser in which a person has logged in, on a server as people start it."""
    server.web_app.settings["disable_check_xsrf"] = False
    browser = Browser(f"localhost:{server.port}")
    form = await fetch("login", headers=browser.headers())
    token = {"Authorization": f"token {server.identity_provider.token}"}
    inside = await fetch("workbench", "devices", headers=browser.headers(**token))
    for answer in (form, inside):
        for cookie in answer.headers.get_list("Set-Cookie"):
            morsels = SimpleCookie(cookie).items()
            browser.cookies.update({name: morsel.coded_value for name, morsel in morsels})
    return browser


async def test_a_page_acts_only_with_the_xsrf_token_that_another_site_cannot_read(
    jp_serverapp: Any, jp_fetch: Fetch, run: Run
) -> None:
    browser = await logged_in(jp_serverapp, jp_fetch)

    def stop(headers: dict[str, str]) -> Awaitable[HTTPResponse]:
        address = ("workbench", "runs", run.id, "stop")
        return jp_fetch(*address, method="POST", body="{}", headers=headers)

    token = {"X-XSRFToken": browser.cookies["_xsrf"]}
    assert await status_of(stop(browser.headers())) == 403
    assert (await stop(browser.headers(**token))).code == 202
    assert await status_of(stop(browser.headers(EVIL, **token))) == 404


async def test_another_site_cannot_open_the_socket_of_a_page(
    jp_serverapp: Any, jp_fetch: Fetch, jp_ws_fetch: Callable[..., Awaitable[Any]], runs_dir: Path
) -> None:
    browser = await logged_in(jp_serverapp, jp_fetch)
    foreign = jp_ws_fetch("workbench", "stream", headers=browser.headers(EVIL))
    assert await status_of(foreign) == 403
    socket = await jp_ws_fetch("workbench", "stream", headers=browser.headers())
    socket.close()


@pytest.mark.parametrize(
    "name", ["..", ".", ".hidden", "%2e%2e", "..%2f..%2fetc", "%2fetc", "a%00b", "a%5cb", "x" * 200]
)
async def test_a_name_cannot_lead_out_of_the_folder(
    name: str, jp_serverapp: Any, http_server_client: Any, jp_auth_header: Any, run: Run
) -> None:
    url = f"{jp_serverapp.web_app.settings['base_url']}workbench/runs/{name}/script"
    answer = http_server_client.fetch(url, headers=jp_auth_header)
    assert await status_of(answer) in (400, 404)


def test_a_link_among_the_runs_is_not_followed(run: Run, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    run.dir.rename(outside)
    (run.dir.parent / "linked").symlink_to(outside)
    with pytest.raises(RequestError, match="is not the id of a run in"):
        RunsFolder(run.dir.parent.resolve()).run("linked")


async def test_a_link_among_the_runs_is_a_row_with_the_reason(
    jp_fetch: Fetch, run: Run, tmp_path: Path
) -> None:
    (run.dir.parent / "linked").symlink_to(run.dir.rename(tmp_path / "outside"))
    (row,) = json.loads((await jp_fetch("workbench", "runs")).body)["runs"]
    assert (row["id"], row["status"], row["actions"]) == ("linked", "unreadable", [])
    assert f"is a link to {tmp_path / 'outside'}. A page shows only" in row["error"]


SHOWN = ("run.json", "config.json", "plan.json", "train.py", "events.jsonl")
OF_A_TASK = ("worker-0", "worker-0/events.jsonl", "worker-0/log.txt")


@pytest.mark.parametrize("name", [*SHOWN, *OF_A_TASK])
async def test_a_link_out_of_a_run_is_not_followed(
    name: str, jp_fetch: Fetch, run: Run, tmp_path: Path
) -> None:
    linked = run.dir / name
    linked.symlink_to(linked.rename(tmp_path / "secret"))
    error = f"{linked} is a link to {tmp_path / 'secret'}"
    (row,) = json.loads((await jp_fetch("workbench", "runs")).body)["runs"]
    assert (row["status"], row["actions"]) == ("unreadable", [])
    assert error in row["error"]
    folder = RunsFolder(run.dir.parent.resolve())
    frames: list[str | bytes] = []
    channel = RunsChannel(folder, "")
    channel._listeners["page"] = frames.append
    channel.poll()
    assert json.loads(frames[-1])["rows"] == [row]
    assert await status_of(jp_fetch("workbench", "runs", run.id, "script")) == 404
    asked = (await jp_fetch("workbench", "series", params={"runs": run.id})).body
    assert error.encode() in asked
    with pytest.raises(RequestError, match=re.escape(error)):
        folder.run(run.id)


def test_a_link_within_a_run_and_to_a_folder_of_checkpoints_is_followed(
    run: Run, tmp_path: Path
) -> None:
    (run.dir / "train.py").rename(run.dir / "mine.py")
    (run.dir / "train.py").symlink_to("mine.py")
    (run.dir / "checkpoints").symlink_to(tmp_path)
    assert RunsFolder(run.dir.parent.resolve()).run(run.id).script == run.script


@pytest.mark.parametrize("asked", ["..", "/etc", "runs/../..", "link", "a\0b"])
def test_a_folder_of_runs_is_within_the_servers_root_folder(asked: str, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(tmp_path)
    with pytest.raises(RequestError, match="is not a relative path inside"):
        runs_folder(root, asked)


async def test_a_request_has_a_size_limit(jp_fetch: Fetch, run: Run) -> None:
    body = json.dumps({"name": "x" * MOST_BYTES})
    answer = jp_fetch("workbench", "runs", run.id, "stop", method="POST", body=body)
    assert await status_of(answer) == 413


@pytest.mark.parametrize("body", ["[]", "no json", "\xff"])
async def test_a_request_is_an_object(body: str, jp_fetch: Fetch, run: Run) -> None:
    answer = jp_fetch("workbench", "runs", run.id, "stop", method="POST", body=body)
    assert await status_of(answer) == 400


async def test_a_page_cannot_start_a_run_of_its_own_config(jp_fetch: Fetch, runs_dir: Path) -> None:
    body = json.dumps({"config": {"interpreter": "/evil/python"}})
    assert await status_of(jp_fetch("workbench", "runs", method="POST", body=body)) == 405
    assert list(runs_dir.iterdir()) == []


def test_no_handler_is_open_to_all() -> None:
    for _, handler in handlers_at("/"):
        for method in METHODS:
            found = vars(handler).get(method)
            assert not getattr(found, "__allow_unauthenticated", False)
            if found is not None:
                assert inspect.iscoroutinefunction(inspect.unwrap(found))
