"""The page: the bar is above everything else of the form, and tabs are turned by their titles."""

import ipywidgets as ipw
import pytest

from workbench.widgets.page import ALIVE, Page, Places


@pytest.fixture
def page() -> Page:
    places = Places(ipw.VBox(), [ipw.VBox()], [ipw.VBox()], {"Plan": ipw.VBox(), "Run": ipw.VBox()})
    return Page(places, "token")


def test_the_plan_is_open_first_and_others_are_opened_by_title(page: Page) -> None:
    assert page._tabs.selected_index == 0
    page.turn_to("Run")
    assert page._tabs.selected_index == 1
    with pytest.raises(ValueError, match="Elsewhere"):
        page.turn_to("Elsewhere")


def test_the_page_shows_whether_the_run_is_alive(page: Page) -> None:
    assert ALIVE not in page.root._dom_classes
    page.show_alive(True)
    page.show_alive(True)
    assert page.root._dom_classes.count(ALIVE) == 1
    page.show_alive(False)
    assert ALIVE not in page.root._dom_classes
