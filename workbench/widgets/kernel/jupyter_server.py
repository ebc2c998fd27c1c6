"""The Jupyter server that started this kernel: the folder that it shows, and its addresses."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from workbench import hosts

from .host import host


@dataclass(frozen=True)
class JupyterServer:
    """A server of notebooks, whose pages show the files below its root."""

    root: Path
    base_url: str
    """The path before all its addresses; it ends with a slash."""
    classic: bool
    """Whether it is the server of classic Notebook, which has no JupyterLab."""

    def path_of(self, path: Path) -> str | None:
        """Return a file's path below the root; None if the server does not show the file.

        A server shows no hidden files, and none in hidden folders.
        """
        linked = Path(os.path.abspath(path))  # noqa: PTH100 (resolve() would follow links)
        for file, root in ((linked, self.root), (path.resolve(), self.root.resolve())):
            if file.is_relative_to(root):
                below = file.relative_to(root)
                hidden = any(part.startswith(".") for part in below.parts)
                return None if hidden else below.as_posix()
        return None

    def page_url(self, below: str) -> str:
        """Return the address of a page with a file or folder, given its path below the root."""
        return f"{self.base_url}{'tree' if self.classic else 'lab/tree'}/{quote(below)}"

    def file_url(self, below: str) -> str:
        """Return the address of a file's content, given its path below the root."""
        return f"{self.base_url}files/{quote(below)}"

    def errors_url(self, about: str) -> str:
        """Return the address of the page *Errors*, which begins with a field or an error."""
        return f"{self.base_url}workbench/errors?about={quote(about)}"


def own_server() -> JupyterServer | None:
    """Return the server that started this kernel and whose page shows it; None if it is unknown.

    The pages of Colab, Kaggle and VS Code are not their server's pages.
    """
    file = hosts.server_file()
    if host() != hosts.JUPYTER or file is None:
        return None
    classic = file.name.startswith("nbserver")
    about = json.loads(file.read_text(encoding="utf-8"))
    root = about["notebook_dir" if classic else "root_dir"]
    return JupyterServer(Path(root), about["base_url"], classic)
