"""What pages are put together of: shared looks, and so few messages that none can be lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ipywidgets as ipw
import pytest

from workbench import Workbench
from workbench.widgets.parts.page_parts import ANY_WIDTH, html, row, set_visible, styled

KEPT_BY_A_KERNEL = 1000
"""Messages that wait for a server which does not read just then: libzmq's ZMQ_SNDHWM."""


def test_a_workbench_is_told_in_fewer_messages_than_a_kernel_keeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []

    def counted(name: str) -> None:
        real = getattr(ipw.Widget, name)

        def tell(widget: ipw.Widget, *given: Any, **named: Any) -> Any:
            told.append(name)
            return real(widget, *given, **named)

        monkeypatch.setattr(ipw.Widget, name, tell)

    counted("open")
    counted("_send")
    workbench = Workbench(runs_dir=tmp_path)
    workbench._ipython_display_()
    assert 100 < told.count("open") < len(told) < KEPT_BY_A_KERNEL
    workbench.close()


def test_widgets_of_a_kind_share_their_style() -> None:
    wide, other = (styled(ipw.Text, "wb-field", style=ANY_WIDTH, value=text) for text in "ab")
    assert wide.style is other.style
    assert wide.style.description_width == "initial"
    assert styled(ipw.Text).style is not wide.style
    assert wide.layout is not other.layout
    assert wide._dom_classes == ("wb-field",)
    assert [wide.value, other.value] == ["a", "b"]


def test_what_is_shared_is_not_changed() -> None:
    note = html("words", description="Note")
    assert note.layout is html(description="Another").layout
    with pytest.raises(TypeError, match=r"not changed; got display='none'.*fixed=False"):
        set_visible(note, visible=False)
    with pytest.raises(TypeError, match=r"got description_width='9px'"):
        note.style.description_width = "9px"
    note.layout.close()
    note.style.close()
    moved = html("words", description="Note", fixed=False)
    set_visible(row(moved), visible=False)
    set_visible(moved, visible=False)
    assert moved.layout.display == "none"


def test_what_was_shared_and_is_closed_is_made_anew() -> None:
    closed = html(description="Note")
    closed.style.close()
    closed.layout.close()
    fresh = html(description="Note")
    assert fresh.style.comm is not None
    assert fresh.layout.comm is not None
    assert fresh.style is not closed.style
