"""Matrices in a folder of runs, for tests that show them."""

from __future__ import annotations

from pathlib import Path

from workbench.experiments import Cell, Matrix
from workbench.runs.folder.files import json_text


def keep_matrix(root: Path, name: str, cells: list[Cell]) -> None:
    folder = root / name
    folder.mkdir(parents=True)
    values = Matrix(folder, 50, "synthetic", cells).to_json()
    (folder / "matrix.json").write_text(json_text(values))
