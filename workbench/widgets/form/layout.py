"""The fields of the form, and their places."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ipywidgets as ipw

from workbench import catalog
from workbench.fields import BATCH_SIZES, FIELDS, SECTIONS, LauncherFields
from workbench.widgets.parts.fold import Fold
from workbench.widgets.parts.page_parts import ANY_WIDTH, styled

from .fields import Field, field_of, help_mark
from .function_field import FunctionField, data_field, model_field, step_field
from .notebook_function import NotebookFunction
from .special_fields import (
    BatchFields,
    DevicesField,
    StrategyField,
    gpu_memory_field,
    steps_per_call_field,
)

CUSTOM = ""
"""The name of settings that no preset has."""


@dataclass(frozen=True)
class Parts:
    """The form's fields: the linked batch sizes, some by name, and all except the batch sizes."""

    batch: BatchFields
    strategy: StrategyField
    devices: DevicesField
    all: tuple[Field, ...]

    def named(self, *names: str) -> list[Field]:
        """Return fields by name, in the order asked for."""
        by_name = {field.name: field for field in self.all}
        return [by_name[name] for name in names]

    @property
    def use_notebook(self) -> bool:
        """Whether a field's value is a function of the notebook."""
        return any(isinstance(field, FunctionField) and field.of_notebook for field in self.all)


def make_fields(
    device_names: Sequence[str],
    functions: Mapping[str, NotebookFunction] | None = None,
    runs_dir: str | Path | None = None,
) -> Parts:
    """Make a field for each field of `RunConfig`.

    `functions` maps names of fields to functions of the notebook, which these fields offer.
    `runs_dir` is the folder of runs, which keeps the texts of functions of the notebook.
    """
    offered = functions or {}
    strategy = StrategyField()
    devices = DevicesField(device_names)
    special: dict[str, Field] = {
        "strategy": strategy,
        "devices": devices,
        "data": data_field(offered.get("data"), runs_dir),
        "model": model_field(offered.get("model"), runs_dir),
        "step": step_field(offered.get("step"), runs_dir),
        "gpu_memory": gpu_memory_field(),
        "steps_per_call": steps_per_call_field(),
    }
    names = [name for name in FIELDS if name not in BATCH_SIZES]
    singles = tuple(special[name] if name in special else field_of(name) for name in names)
    return Parts(BatchFields(), strategy, devices, singles)


MORE = "More settings"
FIRST = (
    "strategy", "tpu", "workers", "parameter_servers", "replicas", "epochs",
)  # fmt: skip
"""The fields that are always in sight, between the preset and the batch sizes."""
GROUPS = {
    title: tuple(
        field.name
        for field in dataclasses.fields(section)
        if field.name not in (*FIRST, *BATCH_SIZES)
    )
    for title, section in SECTIONS.items()
}
"""The fields of each section that are not always in sight."""


class Groups:
    """The fold of all further settings, and in it a fold for each group of fields.

    The titles count the problems of their fields. A group opens when a problem appears in it.
    """

    def __init__(self, parts: Parts, reach: Any) -> None:
        self._fields = {title: parts.named(*names) for title, names in GROUPS.items()}
        self.folds = {title: self._fold(title, reach) for title in GROUPS}
        self.all = Fold(MORE, *(fold.box for fold in self.folds.values()))
        for field in parts.all:
            if FIELDS[field.name].wide:
                field.box.add_class("wb-wide")
        self._wrong: set[str] = set()

    def mark(self, wrong: set[str]) -> None:
        """Show how many fields of each group have problems; hide groups without visible fields."""
        of_groups: set[str] = set()
        for title, names in GROUPS.items():
            here, fold = wrong.intersection(names), self.folds[title]
            fold.title = _counted(title, len(here))
            fold.show(any(field.visible for field in self._fields[title]))
            if here - self._wrong:
                fold.opened = self.all.opened = True
            of_groups |= here
        self.all.title = _counted(MORE, len(of_groups))
        self._wrong = set(wrong)

    def _fold(self, title: str, reach: Any) -> Fold:
        inside = [grid([field.box for field in self._fields[title]])]
        if SECTIONS[title] is LauncherFields:
            inside.append(reach)
        return Fold(title, *inside, opened=title == next(iter(GROUPS)))


def preset_box() -> Any:
    """Return the list of presets."""
    options = [("Custom settings", CUSTOM)]
    options += [(row.label, key) for key, row in catalog.PRESETS.items()]
    return styled(ipw.Dropdown, options=options, description="Preset", style=ANY_WIDTH)


def first_fields(preset: Any, parts: Parts) -> Any:
    """Return the box of the fields that are always in sight."""
    about = help_mark("Preset", "Fills in a complete lesson; you can change every field.")
    box = styled(ipw.VBox, "wb-field", "wb-wide", children=[preset, about])
    strategy, *others = parts.named(*FIRST)
    strategy.box.add_class("wb-wide")
    boxes = [box, strategy.box, *(field.box for field in others), parts.batch.box]
    return styled(ipw.Box, "wb-fields", "wb-first", children=boxes)


def grid(boxes: Sequence[Any]) -> Any:
    """Return a box that arranges its fields in as many columns as fit."""
    return styled(ipw.Box, "wb-fields", children=boxes)


def _counted(title: str, problems: int) -> str:
    return f"{title} ({problems} to fix)" if problems else title
