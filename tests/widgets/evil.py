"""A text that must never become a part of a page."""

from __future__ import annotations

EVIL = '<img src=x onerror="alert(1)">'
