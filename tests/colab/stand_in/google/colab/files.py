"""A stand-in for Colab's own module: an upload in place of the one that a person chooses."""

import os
from pathlib import Path


def upload() -> dict[str, bytes]:
    """Save the file of `$STAND_IN_UPLOAD` in the current folder; return its name and content."""
    chosen = Path(os.environ["STAND_IN_UPLOAD"])
    Path(chosen.name).write_bytes(chosen.read_bytes())
    return {chosen.name: chosen.read_bytes()}
