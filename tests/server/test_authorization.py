"""On a server with rights for each user, every handler checks the rights."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from jupyter_server.auth.authorizer import Authorizer
from tornado.httpclient import HTTPResponse

from tests.server.requests import EVERY, options, status_of


class Nobody(Authorizer):
    """An authorizer that allows everything except the workbench."""

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        return resource != "workbench"


@pytest.fixture
def jp_server_config() -> dict[str, Any]:
    extensions = {"workbench.server": True}
    return {"ServerApp": {"jpserver_extensions": extensions, "authorizer_class": Nobody}}


@pytest.mark.parametrize(("method", "path"), EVERY)
async def test_a_user_without_rights_is_refused(
    method: str, path: str, jp_fetch: Callable[..., Awaitable[HTTPResponse]], runs_dir: Path
) -> None:
    assert await status_of(jp_fetch("workbench", *path.split("/"), **options(method))) == 403
