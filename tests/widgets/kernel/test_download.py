"""Download: the messages and parts that a page gets; browser tests check the page's half."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import until
from tests.widgets.folders import write_run
from workbench.widgets.kernel import download
from workbench.widgets.kernel.download import DownloadWidget

Sent = list[tuple[dict[str, Any], list[bytes]]]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    """The messages that were sent to pages."""
    found: Sent = []
    monkeypatch.setattr(
        DownloadWidget,
        "send",
        lambda _, content, buffers=(): found.append((content, list(buffers))),
    )
    return found


def ask(widget: DownloadWidget, kind: str, **more: Any) -> None:
    """Send a request in the way of a page."""
    widget._on_message(widget, {"kind": kind, "view": "one", **more}, [])


def test_a_page_gets_the_packed_run_part_by_part(
    sent: Sent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "PART_BYTES", 1000)
    run, widget = write_run(tmp_path), DownloadWidget("Download", "All of it")
    assert widget.layout.display == "none"
    widget.offer(run.pack)
    assert widget.layout.display is None
    ask(widget, "pack")
    until(lambda: len(sent) == 2)
    (packing, _), (packed, _) = sent
    assert packing == {"kind": "packing", "view": "one"}
    assert (packed["kind"], packed["name"]) == ("packed", f"{run.id}.zip")
    assert packed["path"] == f"{run.dir}.zip"
    content = b""
    while len(content) < packed["size"]:
        ask(widget, "part", **{"from": len(content)})
        content_sent, (part,) = sent[-1]
        assert content_sent == {"kind": "part", "view": "one", "from": len(content)}
        content += part
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        assert file.testzip() is None
        assert f"{run.id}/train.py" in file.namelist()


def test_parts_of_two_files_are_never_mixed(sent: Sent, tmp_path: Path) -> None:
    run, widget = write_run(tmp_path), DownloadWidget("Download", "All of it")
    widget.offer(run.pack)
    ask(widget, "part", **{"from": 0})
    assert "has changed" in sent[-1][0]["text"]
    ask(widget, "pack")
    until(lambda: sent[-1][0]["kind"] == "packed")
    (run.dir / "notes.txt").write_text("more")
    path = run.pack()
    ask(widget, "part", **{"from": 0})
    assert "has changed" in sent[-1][0]["text"]
    path.unlink()
    ask(widget, "part", **{"from": 0})
    assert "could not be read" in sent[-1][0]["text"]


def test_the_reason_is_sent_if_nothing_can_be_packed(sent: Sent, tmp_path: Path) -> None:
    run, widget = write_run(tmp_path), DownloadWidget("Download", "All of it")
    ask(widget, "pack")
    assert "nothing to download any more" in sent[-1][0]["text"]
    widget.offer(run.pack)
    Path(f"{run.dir}.zip").mkdir()
    ask(widget, "pack")
    until(lambda: sent[-1][0]["kind"] == "refused")
    assert "cannot be written: " in sent[-1][0]["text"]
