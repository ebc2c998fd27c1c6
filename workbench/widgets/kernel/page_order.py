"""Has what a page says of several widgets heard in the order in which it was said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ipywidgets as ipw


def keep_order(root: Any) -> None:
    """Have all that a page says of these widgets handled by one thread: the one the page names.

    ipykernel 7.4 hands a message on a comm to the shell for which the kernel spoke last on it
    (`Comm._reply_subshell_for`, there for handlers that wait for an answer; none of ours does):
    of two fields one to the main shell, one to a subshell, so that a click on Train overtook what
    was typed before it. Kernels without subshells have one thread anyway.
    """
    for widget in _all_in(root):
        if hasattr(widget.comm, "_reply_subshell_for"):
            widget.comm._reply_subshell_for = _as_the_page_says


def _as_the_page_says(_: Any, subshell_id: str | None) -> str | None:
    return subshell_id


def _all_in(root: Any) -> Iterator[Any]:
    yield root
    if isinstance(root, ipw.Box):
        for child in root.children:
            yield from _all_in(child)
