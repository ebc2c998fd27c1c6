"""Where a server says what each person may: every handler asks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from jupyter_server.auth.authorizer import Authorizer
from tornado.httpclient import HTTPResponse

from tests.server.requests import EVERY, options, status_of


class Nobody(Authorizer):
    """Allows nothing of the workbench, and all else."""

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        return resource != "workbench"


@pytest.fixture
def jp_server_config() -> dict[str, Any]:
    extensions = {"workbench.server": True}
    return {"ServerApp": {"jpserver_extensions": extensions, "authorizer_class": Nobody}}


@pytest.mark.parametrize(("method", "path"), EVERY)
async def test_who_may_not_is_refused(
    method: str, path: str, jp_fetch: Callable[..., Awaitable[HTTPResponse]], runs_dir: Path
) -> None:
    assert await status_of(jp_fetch("workbench", *path.split("/"), **options(method))) == 403
