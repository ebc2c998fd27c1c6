"""The page: the bar is above everything else of the form, and tabs are turned by their titles."""

import ipywidgets as ipw
import pytest

from workbench.widgets.page import FOLDED, Page, Places


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


def folded(page: Page) -> bool:
    return FOLDED in page.root._dom_classes


def test_the_form_folds_for_a_run_and_stays_folded_after_it_until_a_click(page: Page) -> None:
    assert not folded(page)
    page.show_alive(True)
    page.show_alive(True)
    assert page.root._dom_classes.count(FOLDED) == 1
    page.show_alive(False)
    assert folded(page)
    page._unfolded.value = True
    assert not folded(page)
    page.show_alive(True)
    assert folded(page)
    assert not page._unfolded.value


def test_a_form_that_was_opened_beside_the_run_stays_open_after_it(page: Page) -> None:
    page.show_alive(True)
    page._unfolded.value = True
    assert folded(page), "the style sheet shows the form; a click folds it again"
    page.show_alive(False)
    assert not folded(page)
