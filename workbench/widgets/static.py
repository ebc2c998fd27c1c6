"""The files of the front end, which are part of the wheel."""

from __future__ import annotations

from pathlib import Path

STATIC = Path(__file__).with_name("static")
