"""Activity of the server: while a run is alive, the server counts as in use.

So a hub that ends idle servers waits. A hub ends the machine together with the server, and that
ends the run. JupyterHub and Jupyter's own `shutdown_no_activity_timeout` read the newest of the
settings that end in `_last_activity`.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

from workbench.runs import RunError
from workbench.runs.folder.files import run_folders
from workbench.runs.folder.state import is_alive

from .folder import RunsFolder
from .manager import Manager

LAST_ACTIVITY = "workbench_last_activity"
POLL_SECONDS = 60.0


def any_lives(folder: RunsFolder) -> bool:
    """Return whether a run of the folder is alive; an unreadable run counts as not alive."""
    for path in run_folders(folder.path):
        try:
            if is_alive(path):
                return True
        except (RunError, OSError):
            continue
    return False


async def note_activity(settings: dict[str, Any], manager: Manager) -> None:
    """Record in the server's settings that it is in use, if a run of the usual folder is alive."""
    loop = asyncio.get_running_loop()
    if await loop.run_in_executor(manager.pool, any_lives, manager.folder("")):
        settings[LAST_ACTIVITY] = datetime.now(UTC)
