"""The HTTP handlers. Each handler checks the user's rights, and does its work in a thread."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, TypeVar, cast

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import url_path_join
from tornado import web

from workbench.errors.page import errors_page
from workbench.feed import row_of
from workbench.report.html import POLICY

from . import actions
from .errors import RequestError
from .folder import RunsFolder
from .manager import SETTING, Manager
from .series import series_of
from .stream import StreamHandler

T = TypeVar("T")
RESOURCE = "workbench"
MOST_BYTES = 2**20
"""The largest size of a request; an action has a few hundred bytes."""


class Handler(APIHandler):
    """The base of the handlers: it has the manager, answers in JSON, and gives refusal reasons."""

    auth_resource = RESOURCE

    @property
    def manager(self) -> Manager:
        return cast(Manager, self.settings[SETTING])

    @property
    def runs_folder(self) -> RunsFolder:
        """The folder of runs that the URL names."""
        return self.manager.folder(self.get_query_argument("folder", ""))

    @property
    def asked(self) -> dict[str, Any]:
        """The body, a JSON object; an empty object if there is no body.

        Raises:
            RequestError: the body is too large or is not a JSON object.
        """
        body = self.request.body
        if len(body) > MOST_BYTES:
            raise RequestError(
                413,
                f"The request is too large: {len(body)} bytes. Send at most {MOST_BYTES} bytes.",
            )
        try:
            values = json.loads(body or b"{}")
        except ValueError as error:
            raise RequestError(400, f"The request is not JSON: {error}. Send JSON.") from error
        if not isinstance(values, dict):
            kind = type(values).__name__
            raise RequestError(400, f"The request must be a JSON object, not {kind}. Send one.")
        return values

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Call `work` in a thread of the manager and return its result."""
        return await asyncio.get_running_loop().run_in_executor(self.manager.pool, work)

    async def answer(self, work: Callable[[], Any], status: int = 200) -> None:
        """Answer with the result of `work` as JSON; None gives an empty answer (204).

        Bytes are a frame, and are sent as they are.
        """
        try:
            result = await self.in_thread(work)
        except RequestError as error:
            self.set_status(error.status)
            result = error.to_json()
        else:
            self.set_status(204 if result is None else status)
        if isinstance(result, bytes):
            self.finish(result, set_content_type="application/octet-stream")
        else:
            self.finish(None if result is None else json.dumps(result))


class RunsHandler(Handler):
    """The handler for the runs of a folder."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Return the rows of all runs."""

        def rows() -> dict[str, Any]:
            folder = self.runs_folder
            found = [row_of(run) for run in folder.runs()]
            return {"path": str(folder.path), "runs": found}

        await self.answer(rows)


class RunHandler(Handler):
    """The handler for one run."""

    @web.authenticated
    @authorized
    async def get(self, run_id: str) -> None:
        """Return the run's row."""
        await self.answer(lambda: row_of(self.runs_folder.run(run_id)))

    @web.authenticated
    @authorized
    async def delete(self, run_id: str) -> None:
        """Delete the run."""
        await self.answer(lambda: actions.delete(self.runs_folder.run(run_id), {}))


class ActionHandler(Handler):
    """The handler for the actions on a run."""

    @web.authenticated
    @authorized
    async def post(self, run_id: str, name: str) -> None:
        """Do the action and return the run's row."""

        def act() -> dict[str, Any]:
            run = self.runs_folder.run(run_id)
            actions.ACTIONS[name](run, self.asked)
            return row_of(run)

        await self.answer(act, 202)


class ScriptHandler(Handler):
    """The handler for a run's script, which the user can keep."""

    @web.authenticated
    @authorized
    async def get(self, run_id: str) -> None:
        """Return the script as the query asks: py, ipynb, or the cell that opens the run."""
        form = self.get_query_argument("form", "py")
        await self.answer(lambda: actions.script_of(self.runs_folder.run(run_id), form))


class SeriesHandler(Handler):
    """The handler for the curves of several runs, averaged over all replicas."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Return the curves of the runs that the query `runs` names, separated by commas.

        An answer may hold only the first of them, so that a page need not wait for all; see
        `series_of`. One request for many runs is faster than one for each.
        """
        asked = self.get_query_argument("runs", "").split(",")
        await self.answer(lambda: series_of(self.runs_folder, asked))


class DevicesHandler(Handler):
    """The handler for the current load of the machine."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Measure once and return the meters."""
        await self.answer(self.manager.devices.measured)


class ErrorsHandler(Handler):
    """The handler for the page *Errors*."""

    @property
    def content_security_policy(self) -> str:
        """The page has its style inside, and needs nothing else."""
        return POLICY

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Return the page. It begins with the field or error that the query `about` names."""
        about = self.get_query_argument("about", "")
        page = await self.in_thread(lambda: errors_page(about))
        self.finish(page, set_content_type="text/html; charset=UTF-8")


def handlers_at(base_url: str) -> list[tuple[str, type[web.RequestHandler]]]:
    """Return the URL paths and their handlers."""
    run = r"runs/([^/]+)"
    named = "|".join(actions.ACTIONS)
    paths: list[tuple[str, type[web.RequestHandler]]] = [
        ("runs", RunsHandler),
        (run, RunHandler),
        (f"{run}/({named})", ActionHandler),
        (f"{run}/script", ScriptHandler),
        ("series", SeriesHandler),
        ("devices", DevicesHandler),
        ("errors", ErrorsHandler),
        ("stream", StreamHandler),
    ]
    return [(url_path_join(base_url, RESOURCE, path), handler) for path, handler in paths]
