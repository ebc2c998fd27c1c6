"""A fold: its title is a button that the keyboard reaches, and it opens without the kernel."""

import ipywidgets as ipw

from workbench.widgets.parts.fold import Fold


def test_a_fold_is_closed_at_first_and_opens_in_the_page() -> None:
    body = ipw.VBox()
    fold = Fold("Layers", body)
    title, inside = fold.box.children
    assert (title.description, title.value) == ("Layers", False)
    assert inside.children == (body,)
    title.value = True  # as a page sets it at a click
    assert fold.opened


def test_a_fold_opens_and_gets_another_title_from_the_kernel() -> None:
    fold = Fold("Layers", ipw.VBox(), opened=True)
    assert fold.opened
    fold.opened = False
    fold.title = "Layers (1 to fix)"
    title, _ = fold.box.children
    assert (title.value, title.description, title.tooltip) == (False, fold.title, fold.title)


def test_a_fold_without_content_is_hidden_with_its_title() -> None:
    fold = Fold("Layers", ipw.VBox())
    fold.show(False)
    assert fold.box.layout.display == "none"
    fold.show(True)
    assert fold.box.layout.display is None
