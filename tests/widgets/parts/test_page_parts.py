"""The parts of pages: shared styles, and so few messages that none can be lost."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import ipywidgets as ipw
import pytest

from tests.waiting import until
from tests.widgets.folders import write_run
from workbench import Workbench
from workbench.runs.folder.state import take_lock
from workbench.widgets.parts.copy_button import CopyButton
from workbench.widgets.parts.page_parts import ANY_WIDTH, html, is_visible, set_visible, styled

# A kernel keeps 1,000 messages (libzmq's ZMQ_SNDHWM) for a server that does not read at that time.
AT_OPENING, WITH_A_LIVING_RUN = 600, 800


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The messages that widgets send to pages, by the name of the method that sends them."""
    sent: list[str] = []

    def count(name: str) -> None:
        real = getattr(ipw.Widget, name)

        def counted(widget: ipw.Widget, *given: Any, **named: Any) -> Any:
            sent.append(name)
            return real(widget, *given, **named)

        monkeypatch.setattr(ipw.Widget, name, counted)

    count("open")
    count("_send")
    return sent


def test_a_workbench_needs_far_fewer_messages_than_a_kernel_keeps(
    tmp_path: Path, sent: list[str]
) -> None:
    workbench = Workbench(runs_dir=tmp_path)
    workbench._ipython_display_()
    assert 100 < sent.count("open") < len(sent) < AT_OPENING
    workbench.close()


def test_a_living_run_that_opens_with_it_needs_few_more(tmp_path: Path, sent: list[str]) -> None:
    for _ in range(30):
        write_run(tmp_path)
    living = write_run(tmp_path, "running")
    lock = take_lock(living.dir)
    assert lock is not None
    try:
        workbench = Workbench(runs_dir=tmp_path)
        workbench._ipython_display_()
        until(lambda: workbench._closer.box.children)
        assert workbench.run is not None
        assert workbench.run.id == living.id
        assert len(sent) < WITH_A_LIVING_RUN
        workbench.close()
    finally:
        os.close(lock)


def test_widgets_share_their_style_and_layout() -> None:
    wide, other = (styled(ipw.Text, "wb-field", style=ANY_WIDTH, value=text) for text in "ab")
    assert wide.style is other.style
    assert wide.style.description_width == "initial"
    assert styled(ipw.Text).style is not wide.style
    assert wide.layout is other.layout is styled(ipw.Button).layout
    assert styled(ipw.Text, layout={"width": "9px"}).layout is not wide.layout
    assert wide._dom_classes == ("wb-field",)
    assert [wide.value, other.value] == ["a", "b"]


def test_shared_styles_and_layouts_cannot_be_changed() -> None:
    note = html("words", description="Note")
    assert note.layout is html(description="Another").layout
    with pytest.raises(TypeError, match=r"not changed; got display='none'.*set_visible"):
        note.layout.display = "none"
    with pytest.raises(TypeError, match=r"got description_width='9px'"):
        note.style.description_width = "9px"
    note.layout.close()
    note.style.close()


def test_an_anywidget_is_shown_and_hidden_by_its_box() -> None:
    with pytest.raises(TypeError, match=r"got CopyButton\. Put it into a box"):
        set_visible(CopyButton(), visible=False)


def test_a_hidden_widget_has_another_shared_layout() -> None:
    note, other = html("words", description="Note"), html(description="Other", visible=False)
    assert is_visible(note)
    set_visible(note, visible=False)
    assert not is_visible(note)
    assert note.layout is other.layout
    set_visible(note, visible=True)
    assert is_visible(note)


def test_shared_parts_that_were_closed_are_made_again() -> None:
    closed = html(description="Note")
    closed.style.close()
    closed.layout.close()
    fresh = html(description="Note")
    assert fresh.style.comm is not None
    assert fresh.layout.comm is not None
    assert fresh.style is not closed.style
