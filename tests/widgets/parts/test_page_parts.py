"""The parts of pages: shared styles, and so few messages that none can be lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ipywidgets as ipw
import pytest

from workbench import Workbench
from workbench.widgets.parts.page_parts import ANY_WIDTH, html, row, set_visible, styled

KEPT_BY_A_KERNEL = 1000
"""The most messages that wait for a server that does not read at that time: libzmq's ZMQ_SNDHWM."""


def test_a_workbench_needs_fewer_messages_than_a_kernel_keeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []

    def counted(name: str) -> None:
        real = getattr(ipw.Widget, name)

        def counted_call(widget: ipw.Widget, *given: Any, **named: Any) -> Any:
            sent.append(name)
            return real(widget, *given, **named)

        monkeypatch.setattr(ipw.Widget, name, counted_call)

    counted("open")
    counted("_send")
    workbench = Workbench(runs_dir=tmp_path)
    workbench._ipython_display_()
    assert 100 < sent.count("open") < len(sent) < KEPT_BY_A_KERNEL
    workbench.close()


def test_widgets_of_a_kind_share_their_style() -> None:
    wide, other = (styled(ipw.Text, "wb-field", style=ANY_WIDTH, value=text) for text in "ab")
    assert wide.style is other.style
    assert wide.style.description_width == "initial"
    assert styled(ipw.Text).style is not wide.style
    assert wide.layout is not other.layout
    assert wide._dom_classes == ("wb-field",)
    assert [wide.value, other.value] == ["a", "b"]


def test_shared_styles_and_layouts_cannot_be_changed() -> None:
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


def test_shared_parts_that_were_closed_are_made_again() -> None:
    closed = html(description="Note")
    closed.style.close()
    closed.layout.close()
    fresh = html(description="Note")
    assert fresh.style.comm is not None
    assert fresh.layout.comm is not None
    assert fresh.style is not closed.style
