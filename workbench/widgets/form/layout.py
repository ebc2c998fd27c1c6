"""The fields of the form, and their places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ipywidgets as ipw

from workbench import catalog
from workbench.plan.placement import LOCAL
from workbench.widgets.parts.fold import Fold
from workbench.widgets.parts.page_parts import ANY_WIDTH, styled

from .fields import CheckField, ChoiceField, Field, NumberField, TextField, help_mark
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
    singles: tuple[Field, ...] = (
        strategy,
        devices,
        NumberField("replicas", "Replicas", whole=True, optional=True),
        NumberField("workers", "Workers", whole=True, optional=True),
        NumberField("parameter_servers", "Parameter servers", whole=True, optional=True),
        CheckField("evaluator", "Evaluator task"),
        TextField("tpu", "TPU", LOCAL, whole=True, hint=LOCAL),
        ChoiceField("loop", "Training loop", catalog.LOOPS),
        data_field(offered.get("data"), runs_dir),
        TextField("data_dir", "Data folder", whole=True),
        NumberField("synthetic_examples", "Examples", whole=True),
        NumberField("synthetic_features", "Features", whole=True),
        NumberField("synthetic_noise", "Noise", whole=False),
        model_field(offered.get("model"), runs_dir),
        step_field(offered.get("step"), runs_dir),
        NumberField("epochs", "Epochs", whole=True),
        NumberField("steps_per_epoch", "Steps per epoch", whole=True, optional=True),
        TextField("name", "Name of the run", ""),
        TextField("archive", "Archive folder", whole=True, hint="no archive"),
        ChoiceField("optimizer", "Optimizer", catalog.OPTIMIZERS, usual="Default"),
        NumberField("learning_rate", "Learning rate", whole=False),
        ChoiceField(
            "learning_rate_scaling", "Learning rate scaling", catalog.LEARNING_RATE_SCALINGS
        ),
        NumberField("clip_norm", "Clip gradients at norm", whole=False, optional=True),
        ChoiceField("last_batch", "Last batch", catalog.LAST_BATCH),
        ChoiceField("pipeline", "Pipeline", catalog.PIPELINES),
        ChoiceField("auto_shard", "Auto-sharding", catalog.AUTO_SHARD),
        NumberField("data_files", "Data files", whole=True),
        NumberField("seed", "Seed", whole=True),
        ChoiceField("cross_device_ops", "Cross-device operations", catalog.CROSS_DEVICE_OPS),
        ChoiceField("communication", "Communication", catalog.COMMUNICATIONS),
        NumberField("bytes_per_pack", "Bytes per pack", whole=True),
        gpu_memory_field(),
        ChoiceField("precision", "Precision", catalog.PRECISIONS),
        steps_per_call_field(),
        NumberField("rendezvous_seconds", "Timeout to connect (s)", whole=True, optional=True),
        NumberField("restarts", "Restarts", whole=True, optional=True),
        ChoiceField("launcher", "Launcher", catalog.LAUNCHERS),
        TextField("ray_address", "Ray address", whole=True, hint="a new cluster here"),
        NumberField("nodes", "Nodes", whole=True, optional=True),
        NumberField("cpus_per_task", "CPUs per task", whole=True, optional=True),
        NumberField("gpus_per_task", "GPUs per task", whole=True, optional=True),
        NumberField("time_limit_minutes", "Time limit in minutes", whole=True, optional=True),
        TextField("partition", "Partition", whole=True),
        TextField("account", "Account", whole=True),
        TextField("job_setup", "Commands to run first", "", whole=True, hint="module load cuda"),
        TextField("container", "Container image", whole=True, hint="none"),
        ChoiceField("kubernetes_kind", "Manifest kind", catalog.KUBERNETES_KINDS),
        TextField("namespace", "Namespace", whole=True, hint="kubectl's"),
        TextField("volume_claim", "Volume claim", whole=True, hint="its name"),
        TextField("volume_path", "Path on the volume", whole=True, hint="the root"),
        TextField("node_selector", "Node selector", whole=True, hint="key=value, key=value"),
        NumberField("memory_gib_per_task", "GiB per task", whole=True, optional=True),
        NumberField("tpus_per_task", "TPU chips per task", whole=True, optional=True),
        TextField("interpreter", "Python interpreter", whole=True),
        CheckField("xla", "Compile with XLA"),
        CheckField("deterministic", "Deterministic"),
        CheckField("eager", "Run eagerly"),
        CheckField("gradient_norms", "Record gradient norms"),
        ChoiceField("start", "How processes start", catalog.STARTS),
        CheckField("start_now", "Skip the queue"),
    )
    return Parts(BatchFields(), strategy, devices, singles)


MORE = "More settings"
BEYOND = "Other machines"
FIRST = (
    "strategy", "tpu", "workers", "parameter_servers", "replicas", "epochs",
)  # fmt: skip
"""The fields that are always in sight, between the preset and the batch sizes."""
GROUPS = {
    "Model, data and loop": (
        "data", "data_dir", "synthetic_examples", "synthetic_features", "synthetic_noise",
        "model", "loop", "step",
    ),
    "Length, name and archive": ("steps_per_epoch", "name", "archive"),
    "Optimizer and learning rate": (
        "optimizer", "learning_rate", "learning_rate_scaling", "clip_norm",
    ),
    "Input pipeline and seed": ("last_batch", "pipeline", "auto_shard", "data_files", "seed"),
    "Devices and communication": (
        "devices", "gpu_memory", "evaluator", "cross_device_ops", "communication",
        "bytes_per_pack",
    ),
    BEYOND: (
        "launcher", "ray_address", "nodes", "cpus_per_task", "gpus_per_task", "time_limit_minutes",
        "partition", "account", "job_setup", "container", "kubernetes_kind", "namespace",
        "volume_claim", "volume_path", "node_selector", "memory_gib_per_task", "tpus_per_task",
    ),
    "How it runs": (
        "precision", "xla", "steps_per_call", "rendezvous_seconds", "restarts", "start",
        "interpreter", "deterministic", "eager", "gradient_norms", "start_now",
    ),
}  # fmt: skip


LONG = ("archive", "job_setup", "interpreter")
"""The fields whose values are paths or lines of shell, which need a row of their own."""


class Groups:
    """The fold of all further settings, and in it a fold for each group of fields.

    The titles count the problems of their fields. A group opens when a problem appears in it.
    """

    def __init__(self, parts: Parts, reach: Any) -> None:
        self._fields = {title: parts.named(*names) for title, names in GROUPS.items()}
        self.folds = {title: self._fold(title, reach) for title in GROUPS}
        self.all = Fold(MORE, *(fold.box for fold in self.folds.values()))
        for field in parts.named(*LONG):
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
        if title == BEYOND:
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
