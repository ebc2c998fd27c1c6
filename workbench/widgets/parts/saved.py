"""The message that a file was saved: its name is a link, where the page's server shows the file."""

from __future__ import annotations

from pathlib import Path

from workbench.widgets.kernel.jupyter_server import own_server

from . import markup

SHOWN = (".csv", ".html", ".ipynb", ".json", ".md", ".png", ".py", ".svg", ".txt")
"""The files that pages of Jupyter open; all others are downloaded."""


def saved_notice(path: Path, about: str = "") -> str:
    """Return a notice that a file or folder was saved; `about` is a phrase about it (HTML)."""
    about = markup.text(f", {about}." if about else ".")
    return markup.boxed("info", f"Saved {file_link(path)}{about}")


def file_link(path: Path) -> str:
    """Return a link to a file or folder, which shows its name and has its full path as title.

    It is the full path as text if the page's server does not show the file. JupyterLab opens the
    link inside its page (`extension/src/notebook/fileLinks.ts`).
    """
    path = Path(path).absolute()
    server = own_server()
    below = server.path_of(path) if server is not None else None
    if server is None or below is None:
        return markup.text(path)
    if path.is_dir() or path.suffix in SHOWN:
        shown = markup.text(below + "/" * path.is_dir())
        goes = f'href="{markup.text(server.page_url(below))}" data-wb-file="{shown}"'
    else:
        goes = f'href="{markup.text(server.file_url(below))}" download="{markup.text(path.name)}"'
    title = f'title="{markup.text(path)}" target="_blank" rel="noopener"'
    return f'<a class="wb-link" {goes} {title}>{markup.text(path.name)}</a>'
