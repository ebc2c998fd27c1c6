"""The files of a published data set: whether this machine has them, or can download them."""

from __future__ import annotations

import os
import threading
from http.client import HTTPException
from pathlib import Path

from workbench.catalog import DATA, Data
from workbench.config import RunConfig
from workbench.plan import PlanError, Problem
from workbench.plan.launching import is_local
from workbench.runs.processes.environment import UNPACKED, unpacked

ANSWER_SECONDS = 5.0
"""How long the address of a download may take to answer."""
PACKED = "-ubyte.gz"
"""The end of a packed file's name, which an unpacked file lacks."""
_reached: set[str] = set()
"""The addresses that have answered this process."""


def is_unsure(config: RunConfig) -> bool:
    """Return whether a run on this machine must download files, which nothing shows to work yet."""
    row = _published(config)
    return row is not None and row.url not in _reached and bool(_missing(row))


def check_published(config: RunConfig) -> None:
    """Ask whether the files that a run on this machine lacks can be downloaded.

    This takes at most `ANSWER_SECONDS`, and no time if no file is missing.

    Raises:
        PlanError: they cannot; the problem's field is `data`.
    """
    row = _published(config)
    if row is None or not is_unsure(config):
        return
    missing = _missing(row)
    reason = _unreachable(f"{row.url}{missing[0]}")
    if not reason:
        _reached.add(row.url)
        return
    rule = "a data set whose files this machine has or can download"
    got = f"{config.data}, without {', '.join(missing)}; the download fails: {reason}"
    raise PlanError([Problem("data", rule, got, row.remedy)])


def _published(config: RunConfig) -> Data | None:
    """Return the data's row if a run on this machine looks for its files in the usual places."""
    row = DATA.get(config.data)
    return row if row and row.files and config.data_dir is None and is_local(config) else None


def _missing(row: Data) -> list[str]:
    kept = unpacked()[UNPACKED]
    folders = [Path(os.path.expandvars(folder)).expanduser() for folder in row.folders]

    def is_here(name: str) -> bool:
        unpacked_file = Path(kept, name.removesuffix(PACKED))
        return (bool(kept) and unpacked_file.is_file()) or any(
            (folder / name).is_file() for folder in folders
        )

    return [name for name in row.files if not is_here(name)]


def _unreachable(url: str) -> str:
    """Return why a download would fail; empty if its address answers.

    The look-up of a host's name has no time limit, so the question has a thread of its own.
    """
    from urllib.request import Request, urlopen

    found = [f"no answer within {ANSWER_SECONDS:g} s"]

    def ask() -> None:
        try:
            with urlopen(Request(url, method="HEAD"), timeout=ANSWER_SECONDS):
                found[0] = ""
        except (OSError, HTTPException) as error:
            found[0] = str(getattr(error, "reason", error))

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(ANSWER_SECONDS)
    return found[0]
