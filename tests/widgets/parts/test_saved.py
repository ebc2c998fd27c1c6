"""A saved file is a link where the page's server shows it, else its full path."""

from __future__ import annotations

import json
import os
from html.parser import HTMLParser
from pathlib import Path

import pytest

from workbench.widgets.parts.saved import file_link, saved_notice


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the server of this kernel shows."""
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("JPY_PARENT_PID", str(os.getppid()))
    root = tmp_path / "root"
    root.mkdir()
    about = {"root_dir": str(root), "base_url": "/base/"}
    (tmp_path / f"jpserver-{os.getppid()}.json").write_text(json.dumps(about))
    return root


class Link(HTMLParser):
    """The attributes and the text of the link in a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.attributes: dict[str, str | None] = {}
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag == "a"
        self.attributes = dict(attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_file_opens_on_a_page_and_its_title_is_the_full_path(root: Path) -> None:
    path = root / "my runs" / 'a "b" <c>.py'
    link = Link(file_link(path))
    assert link.text == path.name
    assert link.attributes["title"] == str(path)
    assert link.attributes["href"] == "/base/lab/tree/my%20runs/a%20%22b%22%20%3Cc%3E.py"
    assert link.attributes["data-wb-file"] == 'my runs/a "b" <c>.py'
    assert link.attributes["target"] == "_blank"


def test_the_path_of_a_folder_ends_with_a_slash(root: Path) -> None:
    (root / "run-csv").mkdir()
    link = Link(file_link(root / "run-csv"))
    assert link.attributes["href"] == "/base/lab/tree/run-csv"
    assert link.attributes["data-wb-file"] == "run-csv/"


def test_a_file_that_no_page_opens_is_downloaded(root: Path) -> None:
    link = Link(file_link(root / "run-bundle.zip"))
    assert link.attributes["href"] == "/base/files/run-bundle.zip"
    assert link.attributes["download"] == "run-bundle.zip"
    assert "data-wb-file" not in link.attributes


def test_a_file_outside_the_root_is_its_full_path(root: Path) -> None:
    path = root.with_name("<b>.py")
    assert file_link(path) == str(path).replace("<b>", "&lt;b&gt;")


def test_the_notice_names_the_file_and_tells_more_about_it(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = root / "train.py"
    assert f"Saved {file_link(path)}." in saved_notice(path)
    monkeypatch.delenv("JPY_PARENT_PID")
    assert f"Saved {path}, 2 MB &amp; more." in saved_notice(path, "2 MB & more")
