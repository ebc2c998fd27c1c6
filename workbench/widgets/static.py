"""The files of the front end that come with the wheel."""

from __future__ import annotations

from pathlib import Path

STATIC = Path(__file__).with_name("static")
