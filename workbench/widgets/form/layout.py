"""The fields of the form, and their places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ipywidgets as ipw

from workbench import catalog
from workbench.plan.placement import LOCAL
from workbench.widgets.parts import markup
from workbench.widgets.parts.page_parts import html, styled
from workbench.widgets.parts.titled import Accordion

from .fields import CheckField, ChoiceField, Field, NumberField, RadioField, TextField
from .function_field import data_field, model_field, step_field
from .notebook_function import NotebookFunction
from .special_fields import BatchFields, DevicesField, gpu_memory_field, steps_per_call_field


@dataclass(frozen=True)
class Parts:
    """The form's fields: the linked batch sizes, some by name, and all except the batch sizes."""

    batch: BatchFields
    strategy: RadioField
    devices: DevicesField
    all: tuple[Field, ...]

    def named(self, *names: str) -> list[Field]:
        """Return fields by name, in the order asked for."""
        by_name = {field.name: field for field in self.all}
        return [by_name[name] for name in names]


def make_fields(
    device_names: Sequence[str], functions: Mapping[str, NotebookFunction] | None = None
) -> Parts:
    """Make a field for each field of `RunConfig`.

    `functions` maps names of fields to functions of the notebook, which these fields offer.
    """
    offered = functions or {}
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
        data_field(offered.get("data")),
        TextField("data_dir", "Data folder", whole=True),
        NumberField("synthetic_examples", "Examples", whole=True),
        NumberField("synthetic_features", "Features", whole=True),
        NumberField("synthetic_noise", "Noise", whole=False),
        model_field(offered.get("model")),
        step_field(offered.get("step")),
        NumberField("epochs", "Epochs", whole=True),
        NumberField("steps_per_epoch", "Steps per epoch", whole=True, optional=True),
        TextField("name", "Name of the run", ""),
        TextField("archive", "Copies go to", whole=True, hint="nowhere"),
        ChoiceField("optimizer", "Optimizer", catalog.OPTIMIZERS, usual="The usual one"),
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
        NumberField("bytes_per_pack", "Bytes per pack", whole=True),
        gpu_memory_field(),
        ChoiceField("precision", "Precision", catalog.PRECISIONS),
        steps_per_call_field(),
        NumberField("rendezvous_seconds", "Seconds to connect", whole=True, optional=True),
        NumberField("restarts", "Restarts", whole=True, optional=True),
        ChoiceField("launcher", "Where the tasks run", catalog.LAUNCHERS),
        TextField("ray_address", "Ray's address", whole=True, hint="a new cluster here"),
        NumberField("nodes", "Hosts", whole=True, optional=True),
        NumberField("cpus_per_task", "CPUs per task", whole=True, optional=True),
        NumberField("gpus_per_task", "GPUs per task", whole=True, optional=True),
        NumberField("time_limit_minutes", "Time limit in minutes", whole=True, optional=True),
        TextField("partition", "Partition", whole=True),
        TextField("account", "Account", whole=True),
        TextField("job_setup", "Commands to run first", "", whole=True, hint="module load cuda"),
        TextField("container", "Container image", whole=True, hint="none"),
        ChoiceField("kubernetes_kind", "Kind of manifest", catalog.KUBERNETES_KINDS),
        TextField("namespace", "Namespace", whole=True, hint="kubectl's"),
        TextField("volume_claim", "Volume claim", whole=True, hint="its name"),
        TextField("volume_path", "Runs on the volume", whole=True, hint="its root"),
        TextField("node_selector", "Nodes with", whole=True, hint="key=value, key=value"),
        NumberField("memory_gib_per_task", "GiB per task", whole=True, optional=True),
        NumberField("tpus_per_task", "TPU chips per task", whole=True, optional=True),
        TextField("interpreter", "Python interpreter", whole=True),
        CheckField("xla", "Compile each replica's step with XLA"),
        CheckField("eager", "Run eagerly"),
        ChoiceField("start", "How processes start", catalog.STARTS),
        CheckField("start_now", "Start now, without the queue"),
    )
    return Parts(BatchFields(), strategy, devices, singles)


BEYOND = "Beyond this machine"
ADVANCED = {
    "Optimizer and learning rate": (
        "optimizer", "learning_rate", "learning_rate_scaling", "clip_norm",
    ),
    "Data, input pipeline and seed": (
        "synthetic_examples", "synthetic_features", "synthetic_noise", "data_dir",
        "last_batch", "pipeline", "auto_shard", "data_files", "seed",
    ),
    BEYOND: (
        "launcher", "ray_address", "nodes", "cpus_per_task", "gpus_per_task", "time_limit_minutes",
        "partition", "account", "job_setup", "container", "kubernetes_kind", "namespace",
        "volume_claim", "volume_path", "node_selector", "memory_gib_per_task", "tpus_per_task",
    ),
    "How it runs": (
        "cross_device_ops", "communication", "bytes_per_pack", "gpu_memory", "precision",
        "xla", "steps_per_call", "rendezvous_seconds", "restarts", "start", "interpreter",
        "eager", "start_now",
    ),
}  # fmt: skip


class Groups:
    """The folded groups. Each title counts the problems of its group, so that none is hidden."""

    def __init__(self, parts: Parts, reach: Any) -> None:
        grids = {
            title: grid([field.box for field in parts.named(*names)])
            for title, names in ADVANCED.items()
        }
        grids[BEYOND] = ipw.VBox([grids[BEYOND], reach])
        self.box = Accordion(children=list(grids.values()), selected_index=None)
        self.mark(set())

    def mark(self, wrong: set[str]) -> None:
        """Show in each group's title how many of its fields have problems."""
        for at, (title, names) in enumerate(ADVANCED.items()):
            count = len(wrong.intersection(names))
            found = "" if not count else f" ({count} to fix)"
            self.box.set_title(at, f"{title}{found}")


def lay_out(preset: Any, parts: Parts, reach: Any) -> tuple[Any, Groups]:
    """Put all controls in their places, including `reach`. Return the form's box and its groups."""
    preset_help = html(
        '<div class="wb-help">Fills in a complete lesson; you can change every field.</div>',
        description="Help for Preset",
    )
    preset_box = styled(ipw.VBox, "wb-field", children=[preset, preset_help])
    where = parts.named(
        "strategy", "tpu", "workers", "parameter_servers", "evaluator", "replicas", "devices"
    )
    where[0].box.add_class("wb-most")
    first = parts.named("data", "model", "loop", "step")
    groups = Groups(parts, reach)
    ends = parts.named("epochs", "steps_per_epoch", "name", "archive")
    children = [
        html(markup.heading("What to train"), description="Section"),
        grid([preset_box, *(field.box for field in first)]),
        _part("Where and how it is distributed"),
        grid([field.box for field in where]),
        _part("How much"),
        grid([parts.batch.box, *(field.box for field in ends)]),
        groups.box,
    ]
    box = styled(ipw.VBox, "wb-section", children=children)
    return box, groups


def grid(boxes: Sequence[Any]) -> Any:
    """Return a box that arranges its fields in as many columns as fit."""
    return styled(ipw.Box, "wb-fields", children=boxes, fixed=True)


def _part(title: str) -> Any:
    part = html(markup.heading(title, 3), description="Section")
    part.add_class("wb-part")
    return part
