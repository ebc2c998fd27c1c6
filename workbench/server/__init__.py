"""The server half of the JupyterLab extension: it follows runs and devices without a kernel.

It reads run folders and starts supervisors. It never trains. If the server stops, all runs go on.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    return [{"module": "workbench.server"}]


def _load_jupyter_server_extension(app: ServerApp) -> None:
    from tornado.ioloop import PeriodicCallback

    from .activity import POLL_SECONDS, note_activity
    from .handlers import handlers_at
    from .manager import SETTING, Manager

    web_app: Any = app.web_app
    web_app.settings[SETTING] = manager = Manager(app.root_dir)
    web_app.add_handlers(".*$", handlers_at(web_app.settings["base_url"]))
    note = functools.partial(note_activity, web_app.settings, manager)
    PeriodicCallback(note, 1000 * POLL_SECONDS).start()
