"""A captured function as a file that a config can name."""

from __future__ import annotations

import hashlib
from pathlib import Path

from .capture import Captured

FOLDER = "functions"


def keep(captured: Captured, runs_dir: Path) -> str:
    """Write a captured function beside the runs; return its address, `file.py:function`.

    The file is named after its content, so that the same text is kept once and none is changed.

    Raises:
        OSError: the folder cannot be written.
    """
    digest = hashlib.sha256(captured.source.encode()).hexdigest()[:8]
    path = runs_dir / FOLDER / f"{captured.function}_{digest}.py"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(captured.source, encoding="utf-8")
    return f"{path}:{captured.function}"
