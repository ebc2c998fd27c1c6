"""Every refusal and every diagnosis, each once: what is wrong, and what to do.

`workbench explain` and the page *Errors* of the documentation show them. They are collected from
the code that raises them, so their texts are always the texts that a person sees.
"""

from __future__ import annotations

import functools
import itertools
import re
from dataclasses import dataclass
from pathlib import Path

from workbench.config import field_types
from workbench.fields import FIELDS
from workbench.runs.supervise.diagnosis import DIAGNOSES, diagnose
from workbench.runs.supervise.refused import explain_refused

from .collecting import VALUE, collect

SETTINGS = "Settings"
FAILED = "Training that failed"
PAGES = "Command line and JupyterLab"
TOPICS = {
    "bundle": "Exports and bundles",
    "devices": "Devices and environments",
    "engine": "Errors of a script",
    "environments": "Devices and environments",
    "experiments": "Comparisons and measurements",
    "exports": "Exports and bundles",
    "launchers": "Ray, Slurm and Kubernetes",
    "free_path.py": "Exports and bundles",
    "plan": SETTINGS,
    "runs": "Runs and their folders",
    "scripts": "Opening a script",
    "tf_config": "TF_CONFIG",
    "verdict": "Comparisons and measurements",
}
"""The topics of rooms of this package. All other rooms belong to `PAGES`."""
FEWEST_WORDS = 3
"""A text with fewer words of its own does not tell which error it is."""
MOST_FOUND = 3
SIMILAR = 0.7
"""The smallest share of words that an error and a similar text have in common."""
MOST_WORDS = 100
"""A longer text, such as a log, has the words of many errors."""
_SENTENCE_END = re.compile(r"(?<=[.?!]) +(?=[A-Z`…-])")
_GOES_ON = ("Or ", "Then ")
"""The beginnings of a remedy's second sentence."""


@dataclass(frozen=True)
class Error:
    """A refusal or a diagnosis. `VALUE` stands in its texts for what differs each time."""

    name: str
    """The anchor in the documentation, and the argument of `workbench explain`."""
    topic: str
    field: str
    """The field of the config that it is about; empty if it is about none."""
    cause: str
    fixes: tuple[str, ...]
    """What to do: one text, or one for each case."""


@functools.cache
def all_errors() -> tuple[Error, ...]:
    """Return all errors: of each field, then of training that failed, then of all else."""
    fixes: dict[tuple[str, str, str], dict[str, None]] = {}
    for path, field, text, remedy in collect():
        known = field in field_types()
        topic = SETTINGS if known else _topic(path)
        cause, fix = (f"{field} must be {text}", remedy) if field else _split(text, remedy)
        if fix and len(_words(cause)) >= FEWEST_WORDS:
            fixes.setdefault((topic, field if known else "", cause), {})[fix] = None
    for name, row in FIELDS.items():
        if row.range:
            fixes[SETTINGS, name, f"{name} must be {row.range.rule}"] = {row.range.fix: None}
    names = {known.name for known in DIAGNOSES}
    errors = [
        *(
            Error(each.name, FAILED, "", _shown(each.why), (_shown(each.fix),))
            for each in DIAGNOSES
        ),
        *(Error(_name(key[2], names), *key, fixes=tuple(fixes[key])) for key in fixes),
    ]
    return tuple(sorted(errors, key=_order))


def _order(error: Error) -> tuple[bool, int, bool, str]:
    fields = [*field_types(), ""]
    return error.topic != SETTINGS, fields.index(error.field), error.topic != FAILED, error.topic


def _topic(path: Path) -> str:
    """Return the topic of the errors of a module that are about no field."""
    of_failed = path.parts[:2] == ("runs", "supervise")
    return FAILED if of_failed else TOPICS.get(path.parts[0], PAGES)


def field_named(text: str) -> str:
    """Return the field of the config with this name or flag; empty if there is none."""
    name = text.strip().lstrip("-").replace("-", "_")
    return name if name in field_types() else ""


def find(text: str) -> list[Error]:
    """Return the errors that a text is about, the most likely one first.

    The text is the name of an error or of a field, an error as it was shown, or a log.
    """
    asked, field, plain = text.strip(), field_named(text), " ".join(text.split())
    named = [each for each in all_errors() if asked == each.name or (field and field == each.field)]
    return named or _said(plain) or _diagnosed(text) or _similar(plain)


def _said(text: str) -> list[Error]:
    """Return the errors whose words are in a text, in their order."""
    said = [each for each in all_errors() if _pattern(each).search(text)]
    return sorted(said, key=lambda each: -len(_words(each.cause)))[:MOST_FOUND]


def _diagnosed(text: str) -> list[Error]:
    """Return what the diagnosis of a failed run says about a log."""
    if refused := explain_refused(text):
        return [Error("", FAILED, "", refused["cause"], (refused["fix"],))]
    found = diagnose(text)
    return [each for each in all_errors() if found and each.name == found[0].name]


def _similar(text: str) -> list[Error]:
    """Return the errors that have most of their words, or of the text's words, in common."""
    words = set(_words(text)[:MOST_WORDS])

    def share(error: Error) -> float:
        own = set(_words(error.cause))
        return len(words & own) / min(len(own), max(len(words), FEWEST_WORDS + 1))

    similar = [each for each in all_errors() if share(each) >= SIMILAR]
    return sorted(similar, key=share, reverse=True)[:MOST_FOUND]


def _pattern(error: Error) -> re.Pattern[str]:
    """Return the pattern of an error's text. A form shows it without the name of the field."""
    said = error.cause.removeprefix(f"{error.field or VALUE} ").rstrip(".")
    return re.compile(".+?".join(map(re.escape, said.split(VALUE))))


def _split(text: str, fix: str) -> tuple[str, str]:
    """Return what is wrong and what to do. In a single text, the last sentence is the remedy."""
    if fix:
        return text, fix
    *before, last = _SENTENCE_END.split(text)
    if len(before) > 1 and last.startswith(_GOES_ON):
        last = f"{before.pop()} {last}"
    return " ".join(before), last if before else ""


def _name(cause: str, names: set[str]) -> str:
    """Return and note a name of the first words of a cause, as many as make it a new one."""
    words = re.findall(r"[a-z0-9_]+", cause.lower())
    shorter = (words[:count] for count in range(min(6, len(words)), len(words) + 1))
    longer = ([*words, str(number)] for number in itertools.count(2))
    candidates = map("-".join, itertools.chain(shorter, longer))
    name = next(each for each in candidates if each not in names)
    names.add(name)
    return name


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z]{2,}", text.lower())


def _shown(template: str) -> str:
    return re.sub(r"{\w+}", VALUE, template)
