"""The server half of the JupyterLab extension: what runs and devices do, without any kernel.

It reads run folders and starts supervisors; it never trains, and stopping it stops no run.
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

    from .activity import LOOK_SECONDS, note_activity
    from .handlers import handlers_at
    from .manager import SETTING, Manager

    web_app: Any = app.web_app
    web_app.settings[SETTING] = manager = Manager(app.root_dir)
    web_app.add_handlers(".*$", handlers_at(web_app.settings["base_url"]))
    look = functools.partial(note_activity, web_app.settings, manager)
    PeriodicCallback(look, 1000 * LOOK_SECONDS).start()
