"""The overview of a report: its runs, their results and their differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from workbench import catalog
from workbench.fields import NOT_TRAINED
from workbench.units import STEADY, UNKNOWN, duration, number, percent

from .html import Html, fold, joined, section, table, tag
from .subject import Subject


def overview(subjects: Sequence[Subject]) -> Html:
    """Return a row for each run; for a single run, pairs of names and values."""
    notes = f"Speed is the {STEADY}. Loss and accuracy are those of the last epoch that ended."
    if len(subjects) > 1:
        columns = _columns(subjects)
        rows = map(list, zip(map(_link, subjects), *columns.values(), strict=True))
        inside = table(["Run", *columns], rows, "The runs")
    else:
        inside = _pairs(subjects[0])
    return section("Overview", _apart(subjects), inside, tag("p", notes, class_="quiet"))


def differences(subjects: Sequence[Subject]) -> Html | None:
    """Return the differences of the runs, field by field; None for a single run."""
    if len(subjects) < 2:
        return None
    choices = [_choices(each) for each in subjects]
    names = list(dict.fromkeys(name for each in choices for name in each))
    rows = {name: [each.get(name, "not set") for each in choices] for name in names}
    differing = {name: row for name, row in rows.items() if len(set(row)) > 1}
    same = {name: row[:1] for name, row in rows.items() if name not in differing}
    titles = [each.title for each in subjects]
    if differing:
        found = table(["Field", *titles], _rows(differing), "The fields that differ")
    else:
        found = tag("p", "All fields are equal.")
    alike = table(["Field", "Every run"], _rows(same), "The equal fields")
    return section("Differences", found, fold(f"Equal fields: {len(same)}", alike))


def configs(subjects: Sequence[Subject]) -> Html:
    """Return the config of each run with the choices of its plan, folded."""
    folds = [
        fold(each.title, table(["Field", "Value"], _rows(_single(each)), f"Config of {each.title}"))
        for each in subjects
    ]
    return section("Configuration", *folds)


def _single(subject: Subject) -> dict[str, list[str]]:
    return {name: [value] for name, value in _choices(subject).items()}


def _rows(rows: dict[str, list[str]]) -> list[list[str]]:
    return [[name.replace("_", " "), *values] for name, values in rows.items()]


def _choices(subject: Subject) -> dict[str, str]:
    """Return the config's fields; open fields have the values that the plan chose."""
    plan = subject.plan
    config = subject.run.config.to_json()
    asked = {name: value for name, value in config.items() if name not in NOT_TRAINED}
    chosen: dict[str, Any] = {
        "model": plan.model,
        "optimizer": plan.optimizer,
        "learning_rate": plan.learning_rate,
        "devices": list(plan.physical_devices),
        "replicas": plan.num_replicas_in_sync,
        "workers": plan.workers,
        "per_replica_batch_size": plan.per_replica_batch_size,
        "global_batch_size": plan.global_batch_size,
        "steps_per_epoch": plan.steps_per_epoch,
        "cross_device_ops": plan.cross_device_ops,
        "keras": plan.keras,
    }
    merged = {**asked, **{name: value for name, value in chosen.items() if value is not None}}
    merged.pop("version", None)
    return {name: _in_words(value) for name, value in merged.items()}


def _in_words(value: Any) -> str:
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _apart(subjects: Sequence[Subject]) -> Html | None:
    """Return a warning if the runs cannot be compared, so that nobody overlooks it."""
    kinds = {"data": "data", "model": "models"}
    different = [
        f"different {plural}: {', '.join(found)}"
        for field, plural in kinds.items()
        if len(found := sorted({_label(field, getattr(each.plan, field)) for each in subjects})) > 1
    ]
    if not different:
        return None
    warning = f"These runs have {' and '.join(different)}. Their losses cannot be compared."
    return tag("p", warning, class_="warning")


def _label(field: str, name: str) -> str:
    return catalog.label_of(field, name)


def _link(subject: Subject) -> Html:
    swatch = tag("span", class_="swatch", style=f"background:{subject.color}")
    return joined([swatch, tag("a", subject.title, href=f"#{subject.anchor}")])


def _pairs(subject: Subject) -> Html:
    plan = subject.plan
    about = {
        "Model": f"{_label('model', plan.model)} on {_label('data', plan.data)}",
        **{name: text for name, (text,) in _columns([subject]).items()},
        "Run": subject.run.id,
    }
    pairs = (tag("div", tag("dt", name), tag("dd", value)) for name, value in about.items())
    return tag("dl", *pairs)


def _columns(subjects: Sequence[Subject]) -> dict[str, list[str]]:
    """Return the columns by name, without those of which no run has a value."""
    made = {name: list(map(value, subjects)) for name, value in COLUMNS}
    return {name: cells for name, cells in made.items() if set(cells) != {UNKNOWN}}


def _batch(subject: Subject) -> str:
    plan = subject.plan
    if plan.global_batch_size is None:
        return f"{plan.per_replica_batch_size:,} per worker"
    each = f"{plan.per_replica_batch_size:,} x {plan.num_replicas_in_sync}"
    return f"{plan.global_batch_size:,} ({each})"


COLUMNS: tuple[tuple[str, Callable[[Subject], str]], ...] = (
    ("Status", lambda each: str(each.result["status"])),
    ("Strategy", lambda each: f"{each.plan.strategy_label}, {each.plan.loop}"),
    ("Replicas", lambda each: each.plan.who_trains),
    ("Batch", _batch),
    ("Steps", lambda each: f"{each.result['steps'] or 0:,} of {each.plan.total_steps:,}"),
    ("Examples/s", lambda each: number(each.result["examples_per_second"])),
    ("Loss", lambda each: number(each.result["loss"])),
    ("Accuracy", lambda each: percent(each.result["accuracy"])),
    ("Test loss", lambda each: number(each.result["test_loss"])),
    ("Test accuracy", lambda each: percent(each.result["test_accuracy"])),
    ("Duration", lambda each: duration(each.ledger.seconds)),
)
