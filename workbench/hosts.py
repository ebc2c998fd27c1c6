"""Hosts that lend a machine for a while: how to recognise them, and which files they keep."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

DRIVE = Path("/content/drive")


@dataclass(frozen=True)
class LentMachine:
    """A host that removes its machine, with the files on it, when the session ends."""

    name: str
    home: Path
    """The folder in which its notebooks start, and in which it keeps the most."""
    kept: str
    """A sentence on what happens to runs in that folder."""
    idle: str
    """A sentence on when the host takes the machine back early."""


COLAB = LentMachine(
    "Colab",
    Path("/content"),
    "They are lost when this runtime ends.",
    "Colab ends a runtime in which no cell runs, often after about 90 minutes. Its runs end too.",
)
KAGGLE = LentMachine(
    "Kaggle",
    Path("/kaggle/working"),
    "They are lost with this session, unless its persistence covers files or a saved version "
    "includes its output.",
    "Kaggle ends a session in which no cell runs, often after about 20 minutes. Its runs end too.",
)


def lent() -> LentMachine | None:
    """Return the host of this machine; None if it is neither Colab nor Kaggle.

    Each host sets its own environment variables, and Colab also imports a module. Colab Enterprise
    is Colab with other limits.
    """
    of_colab = "COLAB_RELEASE_TAG" in os.environ or "google.colab" in sys.modules
    if of_colab or os.environ.get("VERTEX_PRODUCT") == "COLAB_ENTERPRISE":
        return COLAB
    return KAGGLE if "KAGGLE_KERNEL_RUN_TYPE" in os.environ else None


def runs_home() -> Path:
    """Return the folder that holds the default folder of runs.

    It is the home folder of the host of a lent machine, else the current folder.
    """
    host = lent()
    return host.home if host is not None and host.home.is_dir() else Path.cwd()


def word_on_keeping(runs: Path) -> str:
    """Return a sentence on what happens to runs in this folder; empty if they stay."""
    host = lent()
    if host is None or runs.is_relative_to(DRIVE):
        return ""
    if host is KAGGLE and not runs.is_relative_to(host.home):
        return (
            f"Runs are in {runs}. They are lost with this session: Kaggle keeps {host.home} only."
        )
    return f"Runs are in {runs}. {host.kept}"
