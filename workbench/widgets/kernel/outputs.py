"""Outputs of cells: they are shown, and shown again with newer content."""

from __future__ import annotations

from typing import Any

import IPython.display

_display: Any = IPython.display.display
_update_display: Any = IPython.display.update_display


def show(thing: Any) -> None:
    """Show a widget in the output of the cell that runs."""
    _display(thing)


def show_bundle(bundle: dict[str, Any], display_id: str | None = None) -> None:
    """Show one output in all its forms, by mime type."""
    options = {} if display_id is None else {"display_id": display_id}
    _display(bundle, raw=True, **options)


def update_bundle(bundle: dict[str, Any], display_id: str) -> None:
    """Put newer content into an output that was shown with this id. A thread may call this."""
    _update_display(bundle, raw=True, display_id=display_id)
