"""Bundles made without TensorFlow, and damaged ones."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

from tests.widgets.folders import write_run
from workbench.bundle import write_bundle
from workbench.runs import Run
from workbench.runs.folder.files import json_text, sha256

VERSIONS = {"python": "3.11.9", "tensorflow": "2.21.0", "numpy": "2.4.6", "keras": "3.15.1"}


def certified_run(root: Path, **options: Any) -> Run:
    """Return a finished run whose certificate has its facts; no program has to find them."""
    run = write_run(root, **options)
    certificate = {
        "version": 1,
        "script_sha256": sha256(run.script),
        "data_sha256": "ab" * 32,
        "versions": VERSIONS,
        "environment": {"OMP_NUM_THREADS": "1"},
    }
    (run.dir / "certificate.json").write_text(json_text(certificate))
    return run


def bundle_of(run: Run, path: Path) -> Path:
    """Write its bundle and return the path."""
    write_bundle(run, path)
    return path


def texts_in(path: Path) -> dict[str, bytes]:
    """Return the files in a zip file."""
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def write_zip(path: Path, texts: dict[str | zipfile.ZipInfo, bytes]) -> Path:
    """Write a zip file with exactly these names."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in texts.items():
            file.writestr(name, data)
    return path


def rewritten(path: Path, to: Path, **changed: str) -> Path:
    """Write a bundle with other texts, given by their stems, and their hashes in its manifest."""
    texts = texts_in(path)
    manifest = json.loads(texts["manifest.json"])
    for stem, text in changed.items():
        (name,) = [each for each in texts if each.startswith(f"{stem}.")]
        texts[name] = text.encode()
        if name != "manifest.json":
            manifest["files"][name] = hashlib.sha256(texts[name]).hexdigest()
    if "manifest" not in changed:
        texts["manifest.json"] = json_text(manifest).encode()
    return write_zip(to, dict(texts))


def config_text(run: Run, **fields: Any) -> str:
    """Return a run's config as JSON, with other values in these fields."""
    return json_text(dataclasses.replace(run.config, **fields).to_json())
