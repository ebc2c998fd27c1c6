"""All requests that the server extension answers, read from its handlers."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

import pytest
from tornado.httpclient import HTTPClientError, HTTPResponse

from workbench.server.handlers import handlers_at

METHODS = ("get", "post", "put", "patch", "delete")
ASKED = [
    (method, path.removeprefix("/workbench/"))
    for path, handler in handlers_at("/")
    for method in METHODS
    if method in vars(handler)
]


def named(pattern: str) -> list[str]:
    """Return the addresses that a pattern stands for."""
    before, _, last = pattern.replace("([^/]+)", "some-run").rpartition("/")
    return [f"{before}/{name}".lstrip("/") for name in last.strip("()").split("|")]


EVERY = [(method, path) for method, pattern in ASKED for path in named(pattern)]


def options(method: str) -> dict[str, Any]:
    body = {"body": "{}"} if method in ("post", "put", "patch") else {}
    return {"method": method.upper(), **body}


async def status_of(answer: Awaitable[HTTPResponse]) -> int:
    with pytest.raises(HTTPClientError) as caught:
        await answer
    return caught.value.code
