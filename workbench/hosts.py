"""Hosts that lend a machine for a while: how they are told, and what they keep of it."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

DRIVE = Path("/content/drive")


@dataclass(frozen=True)
class LentMachine:
    """A host whose machine is gone when its session ends, with what was written there."""

    name: str
    home: Path
    """Where its notebooks start, and where it keeps most."""
    kept: str
    """What becomes of runs there."""
    idle: str
    """When it takes the machine back before its time."""


COLAB = LentMachine(
    "Colab",
    Path("/content"),
    "They are gone when this runtime ends.",
    "Colab ends a runtime in which no cell runs, often after some 90 minutes, and a run with it.",
)
KAGGLE = LentMachine(
    "Kaggle",
    Path("/kaggle/working"),
    "They are gone with this session, unless its persistence covers files or a saved version "
    "takes its output along.",
    "Kaggle ends a session in which no cell runs, often after some 20 minutes, and a run with it.",
)


def lent() -> LentMachine | None:
    """Return whose machine this is, by what each leaves in a process; None: of neither.

    Colab Enterprise is Colab with other limits.
    """
    of_colab = "COLAB_RELEASE_TAG" in os.environ or "google.colab" in sys.modules
    if of_colab or os.environ.get("VERTEX_PRODUCT") == "COLAB_ENTERPRISE":
        return COLAB
    return KAGGLE if "KAGGLE_KERNEL_RUN_TYPE" in os.environ else None


def runs_home() -> Path:
    """Return the folder in which runs lie where nobody says another: the host's, else this one."""
    host = lent()
    return host.home if host is not None and host.home.is_dir() else Path.cwd()


def word_on_keeping(runs: Path) -> str:
    """Return a sentence on what becomes of runs in this folder; empty where they stay."""
    host = lent()
    if host is None or runs.is_relative_to(DRIVE):
        return ""
    if host is KAGGLE and not runs.is_relative_to(host.home):
        return (
            f"Runs lie in {runs}. They are gone with this session: Kaggle keeps {host.home} only."
        )
    return f"Runs lie in {runs}. {host.kept}"
