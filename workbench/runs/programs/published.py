"""The files of a published data set: whether this machine has them, or can download them."""

from __future__ import annotations

import contextlib
import os
import threading
from http.client import HTTPException
from pathlib import Path

from workbench.catalog import DATA, Data
from workbench.config import RunConfig
from workbench.plan import PlanError, Problem
from workbench.plan.launching import is_local

ANSWER_SECONDS = 5.0
"""How long the address of a download may take to answer."""
_reached: set[str] = set()
"""The addresses that have answered this process."""


def is_unsure(config: RunConfig) -> bool:
    """Return whether a run on this machine must download files, which nothing shows to work yet."""
    row = _published(config)
    return row is not None and row.url not in _reached and bool(_missing(row))


def check_published(config: RunConfig) -> None:
    """Ask whether Keras can download the files that a run on this machine lacks.

    Files that a package of the operating system has are linked into Keras' cache. The question
    takes at most `ANSWER_SECONDS`, and no time if no file is missing.

    Raises:
        PlanError: they cannot; the problem's field is `data`.
    """
    row = _published(config)
    if row is None:
        return
    _link_packaged(row)
    if not is_unsure(config):
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
    folders = keras_home() / row.cache, Path(row.packaged)
    return [name for name in row.files if not any((each / name).is_file() for each in folders)]


def keras_home() -> Path:
    """Return the folder in which Keras keeps downloads: `get_file` in Keras' file_utils.py."""
    home = Path(os.environ.get("KERAS_HOME") or "~/.keras").expanduser()
    writable = os.access(home if home.exists() else home.parent, os.W_OK)
    return home if writable else Path("/tmp/.keras")


def _link_packaged(row: Data) -> None:
    cache = keras_home() / row.cache
    for name in row.files:
        link, packaged = cache / name, Path(row.packaged, name)
        if link.exists() or not packaged.is_file():
            continue
        with contextlib.suppress(OSError):  # then Keras downloads it
            cache.mkdir(parents=True, exist_ok=True)
            link.unlink(missing_ok=True)  # to a package that was removed
            link.symlink_to(packaged)


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
