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
    certificate = subject.certificate or {}
    same = certificate.get("script_sha256") == sha256(subject.script)
    claim = str(certificate.get("claim", "It makes no claim"))
    warning = "It certifies an earlier script of this run."
    stale = None if same else tag("p", warning, class_="warning")
    text = json.dumps(certificate, indent=2, ensure_ascii=False)
    return tag(
        "article",
        tag("h3", subject.title),
        tag("p", f"{claim}."),
        stale,
        fold("The complete certificate", code(text)),
    )


def scripts(subjects: Sequence[Subject]) -> Html:
    """Return the scripts that ran, folded; equal scripts appear once."""
    found: dict[str, list[Subject]] = {}
    for each in subjects:
        found.setdefault(each.script, []).append(each)
    return section("Scripts", *_folded(found.items()))


def _folded(scripts_of: Iterable[tuple[str, list[Subject]]]) -> list[Html]:
    folds, room = [], MOST_SCRIPT_BYTES
    for script, subjects in scripts_of:
        digest = sha256(script)
        titles = ", ".join(each.title for each in subjects)
        inside = code(script)
        room -= len(inside)
        if room < 0:
            note = "Left out to keep the page small; it is train.py in the run's folder."
            inside = tag("p", note)
        folds.append(fold(f"{titles}: sha256 {digest}", inside))
    return folds
