"""The reading of a replay bundle from any source: in memory, with a size limit for each file."""

from __future__ import annotations

import dataclasses
import json
import os
import shlex
import stat
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

from workbench.config import ConfigError, RunConfig
from workbench.plan.launching import for_anywhere
from workbench.runs import RunError
from workbench.runs.copying.pack import BROKEN_ZIP
from workbench.runs.folder.files import CERTIFICATE, full_path, sha256

from .contents import (
    CONFIG,
    FIRST_STEP_IN,
    LOSSES,
    MANIFEST,
    MOST_BYTES,
    OPTIONAL,
    REQUIREMENTS,
    SCRIPT,
    Bundle,
    Manifest,
    most_bytes,
)

WORDS_SINCE = 3
"""The first version whose manifest says in words what is certified."""
_KINDS: dict[str, Any] = {
    "str": str,
    "float": (float, int),
    "bool": bool,
    "int": int,
    "str | None": (str, type(None)),
    "list[str]": list,
    "dict[str, str]": dict,
}


def read_bundle(path: str | os.PathLike[str]) -> Bundle:
    """Return the bundle in a file; no part of it is written to disk or run.

    Raises:
        RunError: the file cannot be read, is no bundle, is damaged, or is of another version.
    """
    source = full_path(path)
    texts = _texts(source)
    values = _json(source, texts, MANIFEST)
    version = values.get("version")
    if not isinstance(version, int) or version not in FIRST_STEP_IN:
        raise RunError(
            f"{source} is a bundle of version {version!r}; this release reads versions "
            f"{min(FIRST_STEP_IN)} to {max(FIRST_STEP_IN)}. Install the release that wrote it: "
            f"{str(values.get('workbench'))[:40]}."
        )
    if version < WORDS_SINCE:
        values.setdefault("certificate", "")
    manifest = _manifest(source, values)
    changed = [n for n in texts.keys() - {MANIFEST} if manifest.files.get(n) != sha256(texts[n])]
    absent = manifest.files.keys() - texts.keys()
    if changed or absent or (manifest.together and LOSSES not in texts):
        names = sorted({*changed, *absent}) or [LOSSES]
        raise _broken(source, f"{', '.join(names)} changed after the bundle was written")
    try:
        # A replay does not use the commands, the interpreter and the hosts of the original run.
        config = for_anywhere(RunConfig.from_json(_json(source, texts, CONFIG)))
    except ConfigError as error:
        raise _broken(source, f"{CONFIG}: {error}") from error
    certificate = _json(source, texts, CERTIFICATE) if CERTIFICATE in texts else {}
    script, requirements = texts[SCRIPT], texts[REQUIREMENTS]
    losses = texts.get(LOSSES, "")
    own = {name.rpartition("/")[2]: text for name, text in texts.items() if name not in MOST_BYTES}
    return Bundle(manifest, config, script, requirements, losses, certificate, own)


def _texts(path: Path) -> dict[str, str]:
    """Return the files of a zip file as texts, after a check of its size and its list of names."""
    try:
        if path.stat().st_size > sum(MOST_BYTES.values()):
            raise _broken(path, f"it has {path.stat().st_size:,} bytes")
        with zipfile.ZipFile(path) as file:
            entries = file.infolist()
            _check_names(path, entries)
            return {entry.filename: _text(path, file, entry) for entry in entries}
    except OSError as error:
        raise RunError(
            f"{path} cannot be read: {error.strerror or error}. Fix the path."
        ) from error
    except BROKEN_ZIP as error:
        raise _broken(path, str(error)) from error
    except UnicodeDecodeError as error:
        raise _broken(path, f"a text that is not UTF-8, {error.reason}") from error


def _check_names(path: Path, entries: list[zipfile.ZipInfo]) -> None:
    names = [entry.filename for entry in entries]
    if any(name.endswith("/run.json") for name in names):
        raise RunError(
            f"{path} is a packed run, not a bundle. Restore it with: workbench runs restore "
            f"{shlex.quote(str(path))}"
        )
    foreign = [name for name in names if most_bytes(name) is None]
    links = [entry.filename for entry in entries if stat.S_ISLNK(entry.external_attr >> 16)]
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    absent = [name for name in MOST_BYTES if name not in names and name not in OPTIONAL]
    for kind, found in (
        ("holds files that no bundle has", foreign),
        ("holds a link", links),
        ("holds the same file twice", twice),
        ("lacks", absent),
    ):
        if found:
            shown = ", ".join(ascii(name[:60]) for name in found[:3])
            raise _broken(path, f"it {kind}: {shown}")


def _text(path: Path, file: zipfile.ZipFile, entry: zipfile.ZipInfo) -> str:
    most = most_bytes(entry.filename) or 0
    with file.open(entry) as content:
        data = content.read(most + 1)  # the size in the header may be wrong
        if len(data) > most:
            raise _broken(path, f"{entry.filename} has more than {most:,} bytes")
    return data.decode("utf-8")


def _json(path: Path, texts: dict[str, str], name: str) -> dict[str, Any]:
    try:
        values = json.loads(texts[name])
    except (ValueError, RecursionError) as error:
        raise _broken(path, f"{name}: {error}") from error
    if not isinstance(values, dict):
        raise _broken(path, f"{name} is not a JSON object")
    return values


def _manifest(path: Path, values: dict[str, Any]) -> Manifest:
    fields = {field.name: str(field.type) for field in dataclasses.fields(Manifest)}
    if odd := sorted(fields.keys() ^ values.keys()):
        raise _broken(path, f"{MANIFEST} lacks or adds {', '.join(ascii(n[:60]) for n in odd[:3])}")
    for name, kind in fields.items():
        if not isinstance(values[name], _KINDS[kind]) or not _all_text(values[name]):
            raise _broken(path, f"{name} in {MANIFEST} is not of type {kind}")
    return Manifest(**values)


def _all_text(value: object) -> bool:
    """Return whether all items of a list or an object are text."""
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return all(isinstance(item, str) for item in items)


def _broken(path: Path, what: str) -> RunError:
    return RunError(
        f"{path} is not a complete bundle: {what}. Take an undamaged copy, or make it again with: "
        "workbench bundle RUN"
    )
