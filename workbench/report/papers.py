"""The evidence for the runs of a report: certificates, and the scripts that ran."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from workbench.runs.folder.files import sha256

from .html import Html, code, fold, section, tag
from .subject import Subject

MOST_SCRIPT_BYTES = 600_000
"""The limit for all scripts together; a page names further scripts only by their sha256."""


def certificates(subjects: Sequence[Subject]) -> Html | None:
    """Return the certificates of the runs; None if there are none."""
    certified = [each for each in subjects if each.certificate]
    if not certified:
        return None
    return section("Certificates", *(_certificate(each) for each in certified))


def _certificate(subject: Subject) -> Html:
    told = subject.certificate or {}
    same = told.get("script_sha256") == sha256(subject.script)
    words = str(told.get("claim", "It claims nothing."))
    stale = None if same else tag("p", "It is of an earlier script of this run.", class_="warning")
    text = json.dumps(told, indent=2, ensure_ascii=False)
    return tag(
        "article",
        tag("h3", subject.title),
        tag("p", f"{words}."),
        stale,
        fold("The whole certificate", code(text)),
    )


def scripts(subjects: Sequence[Subject]) -> Html:
    """Return the scripts that ran, folded; equal scripts appear once."""
    told: dict[str, list[Subject]] = {}
    for each in subjects:
        told.setdefault(each.script, []).append(each)
    return section("Scripts", *_folded(told.items()))


def _folded(scripts_of: Iterable[tuple[str, list[Subject]]]) -> list[Html]:
    folds, room = [], MOST_SCRIPT_BYTES
    for script, subjects in scripts_of:
        digest = sha256(script)
        titles = ", ".join(each.title for each in subjects)
        inside = code(script)
        room -= len(inside)
        if room < 0:
            words = "Left out to keep the page small; the run's folder holds it as train.py."
            inside = tag("p", words)
        folds.append(fold(f"{titles}: sha256 {digest}", inside))
    return folds
