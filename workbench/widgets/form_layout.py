"""Which fields the form has and where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ipywidgets as ipw

from workbench import catalog
from workbench.plan.placement import LOCAL

from . import markup
from .fields import CheckField, ChoiceField, Field, NumberField, RadioField, TextField
from .model_field import ModelField
from .notebook_function import NotebookFunction
from .special_fields import (
    BatchFields,
    DevicesField,
    gpu_memory_field,
    steps_per_call_field,
)


@dataclass(frozen=True)
class Parts:
    """The form's fields: the linked batch sizes, some by name, and all but the batch sizes."""

    batch: BatchFields
    strategy: RadioField
    devices: DevicesField
    all: tuple[Field, ...]

    def named(self, *names: str) -> list[Field]:
        """Return fields by name, in the order asked for."""
        by_name = {field.name: field for field in self.all}
        return [by_name[name] for name in names]


def make_fields(device_names: Sequence[str], model: NotebookFunction | None = None) -> Parts:
    """Make a field for everything that `RunConfig` holds."""
    strategy = RadioField("strategy", "Strategy", catalog.STRATEGIES)
    devices = DevicesField(device_names)
    singles: tuple[Field, ...] = (
        strategy,
        devices,
        NumberField("replicas", "Replicas", whole=True, optional=True),
        NumberField("workers", "Workers", whole=True, optional=True),
        NumberField("parameter_servers", "Parameter servers", whole=True, optional=True),
        CheckField("evaluator", "Evaluator task"),
        TextField("tpu", "Which TPU", LOCAL, whole=True, hint=LOCAL),
        ChoiceField("loop", "Training loop", catalog.LOOPS),
        ChoiceField("data", "Data", catalog.DATA),
        TextField("data_dir", "Data folder", whole=True),
        NumberField("synthetic_examples", "Examples", whole=True),
        NumberField("synthetic_features", "Features", whole=True),
        NumberField("synthetic_noise", "Noise", whole=False),
        ModelField(model),
        NumberField("epochs", "Epochs", whole=True),
        NumberField("steps_per_epoch", "Steps an epoch", whole=True, optional=True),
        TextField("name", "Name of the run", ""),
        ChoiceField("optimizer", "Optimizer", catalog.OPTIMIZERS),
        NumberField("learning_rate", "Learning rate", whole=False),
        ChoiceField("learning_rate_scaling", "Scaling", catalog.LEARNING_RATE_SCALINGS),
        NumberField("clip_norm", "Clip gradients at norm", whole=False, optional=True),
        ChoiceField("last_batch", "Last batch", catalog.LAST_BATCH),
        ChoiceField("pipeline", "Pipeline", catalog.PIPELINES),
        ChoiceField("auto_shard", "Auto-sharding", catalog.AUTO_SHARD),
        NumberField("data_files", "Files", whole=True),
        NumberField("seed", "Seed", whole=True),
        ChoiceField("cross_device_ops", "Cross-device operations", catalog.CROSS_DEVICE_OPS),
        ChoiceField("communication", "Communication", catalog.COMMUNICATIONS),
        NumberField("bytes_per_pack", "Bytes a pack", whole=True),
        gpu_memory_field(),
        ChoiceField("precision", "Precision", catalog.PRECISIONS),
        steps_per_call_field(),
        NumberField("rendezvous_seconds", "Seconds to meet", whole=True, optional=True),
        TextField("interpreter", "Python interpreter", whole=True),
        CheckField("eager", "Run eagerly"),
        CheckField("start_now", "Start now, do not queue"),
    )
    return Parts(BatchFields(), strategy, devices, singles)


ADVANCED = {
    "Optimizer and learning rate": (
        "optimizer", "learning_rate", "learning_rate_scaling", "clip_norm",
    ),
    "Data, input pipeline and seed": (
        "synthetic_examples", "synthetic_features", "synthetic_noise", "data_dir",
        "last_batch", "pipeline", "auto_shard", "data_files", "seed",
    ),
    "How it runs": (
        "cross_device_ops", "communication", "bytes_per_pack", "gpu_memory", "precision",
        "steps_per_call", "rendezvous_seconds", "interpreter", "eager", "start_now",
    ),
}  # fmt: skip


class Groups:
    """The folded groups; a group's title counts the problems inside, so that none is hidden."""

    def __init__(self, parts: Parts) -> None:
        grids = [grid([f.box for f in parts.named(*names)]) for names in ADVANCED.values()]
        self.box = ipw.Accordion(children=grids, selected_index=None)
        self.mark(set())

    def mark(self, wrong: set[str]) -> None:
        """Say in each title how many of its fields have problems."""
        for at, (title, names) in enumerate(ADVANCED.items()):
            count = len(wrong.intersection(names))
            found = "" if not count else f" ({count} to mend)"
            self.box.set_title(at, f"{title}{found}")


def lay_out(preset: Any, parts: Parts) -> tuple[Any, Groups]:
    """Put everything in its place; returns the form and its folded groups."""
    preset_help = ipw.HTML(
        '<div class="wb-help">A whole lesson at once; every field can be changed after.</div>',
        description="Help for Preset",
    )
    preset_box = ipw.VBox([preset, preset_help])
    preset_box.add_class("wb-field")
    where = parts.named(
        "strategy", "tpu", "workers", "parameter_servers", "evaluator", "replicas", "devices"
    )
    where[0].box.add_class("wb-most")
    first = parts.named("data", "model", "loop")
    groups = Groups(parts)
    ends = parts.named("epochs", "steps_per_epoch", "name")
    children = [
        ipw.HTML(markup.heading("What to train"), description="Section"),
        grid([preset_box, *(field.box for field in first)]),
        _part("Where and how it is distributed"),
        grid([field.box for field in where]),
        _part("How much"),
        grid([parts.batch.box, *(field.box for field in ends)]),
        groups.box,
    ]
    box = ipw.VBox(children)
    box.add_class("wb-section")
    return box, groups


def grid(boxes: Sequence[Any]) -> Any:
    """Return a box that sets its fields in as many columns as fit."""
    box = ipw.Box(list(boxes))
    box.add_class("wb-fields")
    return box


def _part(title: str) -> Any:
    part = ipw.HTML(markup.heading(title, 3), description="Section")
    part.add_class("wb-part")
    return part
