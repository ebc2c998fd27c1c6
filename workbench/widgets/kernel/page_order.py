"""The order of messages: a page's messages about several widgets are handled as they were sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ipywidgets as ipw


def keep_order(root: Any) -> None:
    """Let one thread handle all messages about these widgets: the thread that the page names.

    ipykernel 7.4 passes a message on a comm to the shell for which the kernel last sent a message
    on this comm (`Comm._reply_subshell_for`). This exists for handlers that wait for an answer; no
    handler of this project waits. So messages of one field went to the main shell, and messages of
    another field went to a subshell. Then a click on Train overtook the text typed before it.
    Kernels without subshells have only one thread.
    """
    for widget in _all_in(root):
        keep_own_order(widget)


def keep_own_order(widget: Any) -> None:
    """Do the same for one widget without its children."""
    if hasattr(widget.comm, "_reply_subshell_for"):
        widget.comm._reply_subshell_for = _as_the_page_says


def _as_the_page_says(_: Any, subshell_id: str | None) -> str | None:
    return subshell_id


def _all_in(root: Any) -> Iterator[Any]:
    yield root
    if isinstance(root, ipw.Box):
        for child in root.children:
            yield from _all_in(child)
