"""Pages about the opened run: offered from its first step on, made at the first look at them."""

from __future__ import annotations

from pathlib import Path

import ipywidgets as ipw

from tests.widgets.folders import write_run
from workbench.runs import Run
from workbench.widgets.run.closer_look import CloserLook


class Page:
    """A page that stores the last run and status that it got."""

    def __init__(self) -> None:
        self.box = ipw.VBox()
        self.shown: tuple[Run | None, str] | None = None

    def show(self, run: Run | None, status: str) -> None:
        self.shown = (run, status)


def test_pages_are_offered_from_the_first_step_on_and_made_when_opened(tmp_path: Path) -> None:
    made: list[Page] = []

    def make() -> Page:
        made.append(Page())
        return made[-1]

    closer = CloserLook({"One": make, "Two": make})
    assert closer.box.layout.display == "none"
    run = write_run(tmp_path)
    for status in ("queued", "starting"):
        closer.show(run, status)
        assert closer.box.layout.display == "none"
        assert made == []
    closer.show(run, "running")
    assert closer.box.layout.display is None
    tabs = closer.box.children[1]
    assert [page.shown for page in made] == [(run, "running")]
    closer.show(run, "finished")
    assert [page.shown for page in made] == [(run, "finished")]
    tabs.selected_index = 1
    assert [page.shown for page in made] == [(run, "finished")] * 2
    assert [place.children for place in tabs.children] == [(page.box,) for page in made]
    closer.show(None, "")
    assert closer.box.layout.display == "none"
    assert [page.shown for page in made] == [(None, "")] * 2
