"""A page behind a title: made at the first look at it, once."""

from __future__ import annotations

from typing import Any

import ipywidgets as ipw
import pytest

from workbench.widgets.parts.later import Later
from workbench.widgets.parts.titled import tabs_of


class View:
    """A view that knows how many there are."""

    count = 0

    def __init__(self) -> None:
        self.box = ipw.VBox()
        View.count += 1


@pytest.fixture
def later() -> Later[View]:
    View.count = 0
    return Later(View)


def test_a_view_is_made_once_and_at_its_first_show(later: Later[View]) -> None:
    assert later.made is None
    assert later.box.children == ()
    for _ in range(2):
        later.show()
        assert later.made is not None
        assert later.box.children == (later.made.box,)
    assert View.count == 1


def test_a_view_is_told_that_it_is_shown_again() -> None:
    told: list[View] = []
    later = Later(View, told.append)
    later.show()
    assert told == []
    later.show()
    assert told == [later.made]


def test_a_tab_makes_its_page_when_it_is_opened(later: Later[View]) -> None:
    tabs = tabs_of({"One": ipw.VBox(), "Two": later})
    assert later.made is None
    tabs.selected_index = 1
    assert later.made is not None
    tabs.selected_index = 0
    tabs.selected_index = 1
    assert View.count == 1


def test_the_page_of_the_open_tab_is_made_with_the_tabs(later: Later[View]) -> None:
    tabs_of({"One": later, "Two": ipw.VBox()})
    assert later.made is not None


def test_a_view_that_cannot_be_made_is_tried_again(later: Later[View]) -> None:
    def fail() -> Any:
        raise OSError("no space")

    later._make = fail
    with pytest.raises(OSError, match="no space"):
        later.show()
    later._make = View
    later.show()
    assert later.made is not None
