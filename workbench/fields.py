"""Every field of a config, a row each: what it is called, what it means, and where it counts.

The form, the flags and their help, the checks of ranges, the documentation and the constants of
scripts are loops over these rows. A new field needs a row here and the place that uses it; if it is
a choice, its table in `catalog.CHOICES`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Concatenate, Literal, ParamSpec

LOCAL, KUBERNETES, RAY, SLURM = "local", "kubernetes", "ray", "slurm"
_P = ParamSpec("_P")


@dataclass(frozen=True)
class Traits:
    """What a strategy does, as far as it decides which fields the strategy uses."""

    mirrors: bool = False
    """Whether it makes a replica on each of several devices of one process."""
    reduces: bool = False
    """Whether cross-device operations can be chosen for it."""
    workers: bool = False
    """Whether its replicas are in separate worker processes."""
    synchronous: bool = True
    """Whether all replicas step together."""
    tpu: bool = False
    uncompiled: str = ""
    """Why XLA must not be chosen for its replicas' steps; empty if it can be chosen."""


@dataclass(frozen=True)
class Range:
    """The numbers that a field can have, in words that complete "FIELD must be ...", and a fix."""

    rule: str
    fix: str
    least: float
    most: float = math.inf

    def holds(self, value: float) -> bool:
        """Return whether a number is in the range and finite."""
        return self.least <= value <= self.most and value < math.inf


@dataclass(frozen=True)
class Row:
    """What is known of a field apart from its name, its type and its default."""

    label: str
    """Its name in the form."""
    help: str
    """Sentences that say what it means; "Empty: ..." says what an empty field means."""
    hint: str = ""
    """What the form shows in the empty field."""
    above_zero: float | None = None
    """An example to offer; set if the number must be above zero."""
    range: Range | None = None
    """Its range, if that is not just above zero."""
    decides: Literal["training", "place", "run"] = "training"
    """The training itself, the place where it runs, or only its name, start and records.

    Only fields that decide the training are in scripts."""
    used_by: Callable[[Traits], bool] | None = None
    """Whether a strategy uses it. With other strategies it must keep its default. None: all do."""
    shown_by: Callable[[Traits], bool] | None = None
    """Whether the form shows it for a strategy. None: as `used_by`."""
    counts_if: Callable[[Any], bool] | None = None
    """Whether it has an effect, given the other fields of a config. If not, the form does not show
    it, and its range is not checked. None: always."""
    launchers: tuple[str, ...] = ()
    """The launchers that use it; it then decides the place. Empty: all of them."""
    constant: str = ""
    """The constant of a script that it decides."""
    comment: str = ""
    """The comment beside the constant; empty if the plan's words are beside it."""
    wide: bool = False
    """Whether it needs a row of its own in the form, because its values are long."""

    def __post_init__(self) -> None:
        if self.launchers:
            object.__setattr__(self, "decides", "place")

    def counts(self, config: TrainingFields) -> bool:
        """Return whether the field has an effect, given the other fields of a config."""
        return self.counts_if is None or bool(self.counts_if(config))


def _defining(make: Callable[_P, Row]) -> Callable[Concatenate[Any, _P], Any]:
    def field(default: Any, /, *values: _P.args, **named: _P.kwargs) -> Any:
        return dataclasses.field(default=default, metadata={"row": make(*values, **named)})

    return field


row = _defining(Row)
"""Return a field of a section, with its default and the values of its `Row`."""


def zero_or_more(fix: str, rule: str = "0 or more") -> Range:
    """Return the range from zero on."""
    return Range(rule, fix, least=0)


def is_own(name: str | None) -> bool:
    """Return whether a field names the user's function, or only its file, which is a problem."""
    return name is not None and (":" in name or name.endswith((".py", ".ipynb")))


def _is_synthetic(config: TrainingFields) -> bool:
    return config.data == "synthetic"


def _is_not_fit(config: TrainingFields) -> bool:
    return config.loop != "fit"


def _runs_graphs(config: StartFields) -> bool:
    return not config.eager


def _sets_the_rate(config: Any) -> bool:
    """Return whether the config sets the learning rate; else the model is compiled with one."""
    return not is_own(config.model) or config.optimizer not in (None, "compiled")


def _has_workers(strategy: Traits) -> bool:
    return strategy.workers


def _is_synchronous(strategy: Traits) -> bool:
    return strategy.synchronous


def _is_asynchronous(strategy: Traits) -> bool:
    return not strategy.synchronous


def _sums_over_workers(strategy: Traits) -> bool:
    return strategy.workers and strategy.synchronous


# A row reads: default and label; help; where it counts; its constant.
# fmt: off
@dataclass(frozen=True, kw_only=True)
class TrainingFields:
    """What is trained, on which data, and by which loop."""

    strategy: str = row(
        "mirrored", "Strategy",
        "The tf.distribute strategy: how training is distributed.",
    )
    loop: str = row(
        "custom", "Training loop",
        "What drives training: Keras fit, or a loop written out in the script.",
    )
    data: str = row(
        "synthetic", "Data",
        "A built-in data set, or your own as module:function or file.py:function. "
        "The function returns (train, test), each a pair (features, labels) of arrays or tables, "
        "with sample weights as a third part if there are any; or a tf.data.Dataset, "
        "keras.utils.PyDataset or generator. With nothing to test on, test is None.",
    )
    validation_split: float | None = row(
        None, "Validation split",
        "For your own arrays with nothing to test on: test on this share of the examples, the "
        "last ones, instead of training on them. Empty: train on all of them.",
        hint="train on all", counts_if=lambda config: is_own(config.data),
        range=Range("from 0.01 to 0.99", "Set it to 0.2, for example.", least=0.01, most=0.99),
    )
    data_dir: str | None = row(
        None, "Data folder",
        "The folder with the data's files. Empty: the usual folders, then a download.",
        hint="default folders",
        counts_if=lambda config: not _is_synthetic(config) and not is_own(config.data),
        constant="DATA_DIR", comment="the folder of the data's four files",
    )
    synthetic_examples: int = row(
        10_000, "Examples",
        "Number of training examples; a fifth as many test examples are made.",
        above_zero=10_000, counts_if=_is_synthetic,
        constant="NUM_TRAIN_EXAMPLES",
    )
    synthetic_features: int = row(
        10, "Features",
        "Features per example.",
        above_zero=10, counts_if=_is_synthetic,
        constant="NUM_FEATURES", comment="numbers in an example",
    )
    synthetic_noise: float = row(
        0.1, "Noise",
        "Standard deviation of the noise in the rule for the labels.",
        range=zero_or_more("Set it to 0.1.", "a finite number, 0 or more"), counts_if=_is_synthetic,
        constant="NOISE", comment="standard deviation of the score's noise",
    )
    model: str | None = row(
        None, "Model",
        "A built-in model, or your own as module:function or file.py:function. The function "
        "returns a Keras model, compiled with its loss and optimizer, and with "
        "metrics=['accuracy'] to show the accuracy. Empty: the default model for the data.",
    )
    step: str | None = row(
        None, "Train step",
        "Your own train step for the custom loop, as module:function or file.py:function. "
        "It takes model, features and labels, updates the weights, and returns the loss of each "
        "example or their mean; to get the accuracy, return the outputs too. Empty: the built-in "
        "step.",
        counts_if=_is_not_fit,
    )


@dataclass(frozen=True, kw_only=True)
class DeviceFields:
    """The replicas, their devices and processes, and how they exchange gradients."""

    devices: tuple[str, ...] | None = row(
        None, "Devices",
        "The devices to train on, such as GPU:0,GPU:1. Empty: every GPU, else the CPU.",
        constant="DEVICES",
    )
    replicas: int | None = row(
        None, "Replicas",
        "Copies of the model that train in sync. Several on one device are virtual. Empty: one for "
        "each GPU, or two virtual ones on the CPU.",
        above_zero=2, shown_by=lambda strategy: strategy.mirrors,
        constant="REPLICAS",
    )
    workers: int | None = row(
        None, "Workers",
        "Processes that train, each with its own replicas. Empty: two, or for ParameterServer one "
        "on each GPU.",
        above_zero=2, used_by=_has_workers,
        constant="WORKERS",
    )
    parameter_servers: int | None = row(
        None, "Parameter servers",
        "Processes that hold the variables. Empty: one.",
        above_zero=1, used_by=_is_asynchronous,
    )
    evaluator: bool = row(
        False, "Evaluator task",
        "Test the checkpoints in a separate process during training.",
        used_by=_is_asynchronous,
    )
    tpu: str = row(
        LOCAL, "TPU",
        "local for the TPU of this machine, or the name of a Cloud TPU.",
        hint=LOCAL, used_by=lambda strategy: strategy.tpu,
        constant="TPU", comment="local: this TPU VM; else the name of a Cloud TPU",
    )
    cross_device_ops: str = row(
        "default", "Cross-device operations",
        "How gradients are summed across replicas.",
        used_by=lambda strategy: strategy.reduces,
        constant="CROSS_DEVICE_OPS",
    )
    communication: str = row(
        "auto", "Communication",
        "How workers sum gradients.",
        used_by=_sums_over_workers,
    )
    bytes_per_pack: int = row(
        0, "Bytes per pack",
        "Bytes per pack in which gradients are sent. 0: TensorFlow decides.",
        range=zero_or_more("Set it to 0 to let TensorFlow decide."), used_by=_sums_over_workers,
    )
    gpu_memory: str | int = row(
        "growth", "GPU memory",
        "growth: take memory as needed; all: take all at the start; a number: MiB per replica.",
        constant="GPU_MEMORY",
    )


@dataclass(frozen=True, kw_only=True)
class InputFields:
    """The batches, and how they reach the replicas."""

    per_replica_batch_size: int | None = row(
        None, "Per-replica batch",
        "Examples per replica in each step. Empty: 64, or what the global batch size gives.",
        above_zero=64,
        constant="PER_REPLICA_BATCH_SIZE",
    )
    global_batch_size: int | None = row(
        None, "Global batch",
        "Examples of all replicas in each step: per-replica size times replicas. Empty: as the "
        "per-replica size gives.",
        above_zero=128,
        constant="GLOBAL_BATCH_SIZE",
    )
    last_batch: str = row(
        "drop", "Last batch",
        "What to do with the last examples of an epoch, if they do not fill a global batch. Only "
        "repeat allows a batch larger than the data; it then holds some examples twice.",
    )
    pipeline: str = row(
        "usual", "Pipeline",
        "How batches reach the replicas; usual and indexed give the same batches.",
        shown_by=_is_synchronous,
    )
    auto_shard: str = row(
        "auto", "Auto-sharding",
        "How training data is split among workers (every pipeline except indexed).",
        shown_by=_sums_over_workers, counts_if=lambda config: config.pipeline != "indexed",
        constant="AUTO_SHARD",
    )
    data_files: int = row(
        8, "Data files",
        "The number of TFRecord files for the training data, in your cache folder: 192 MB in total "
        "for Fashion-MNIST.",
        above_zero=8, counts_if=lambda config: config.pipeline == "files",
        constant="DATA_FILES", comment="files that the training data is written to",
    )
    seed: int = row(
        42, "Seed",
        "The seed of the synthetic data, the initial weights and the shuffling. On CPUs the same "
        "seed gives the same losses; on GPUs some operations round differently each time, unless "
        "deterministic is on.",
        range=Range(
            "from 0 to 2147483647", "Set it to 42, for example.", least=0, most=2**31 - 1
        ),
        constant="SEED", comment="seeds the random numbers of this script",
    )


@dataclass(frozen=True, kw_only=True)
class RecipeFields:
    """The length of the training, and its optimizer."""

    epochs: int = row(
        5, "Epochs",
        "Passes through the training data. A test pass follows each, if there is anything to test "
        "on, and a checkpoint.",
        above_zero=5,
        constant="EPOCHS", comment="each followed by a test pass",
    )
    steps_per_epoch: int | None = row(
        None, "Steps per epoch",
        "Steps per epoch. Empty: all data once. More steps repeat the data. A batch may be larger "
        "than the data only if last_batch is repeat.",
        above_zero=100,
        constant="STEPS_PER_EPOCH",
    )
    optimizer: str | None = row(
        None, "Optimizer",
        "The optimizer. Empty: adam, or the one that your own model is compiled with.",
        hint="Default",
        constant="OPTIMIZER",
    )
    learning_rate: float = row(
        0.001, "Learning rate",
        "The learning rate, before it is scaled with the replicas.",
        above_zero=0.001, counts_if=_sets_the_rate,
        constant="LEARNING_RATE",
    )
    learning_rate_scaling: str = row(
        "none", "Learning rate scaling",
        "How the learning rate grows with the replicas.",
        used_by=_is_synchronous, counts_if=_sets_the_rate,
    )
    clip_norm: float | None = row(
        None, "Clip gradients at norm",
        "Clip the gradient, summed over the replicas, to this global norm (custom loop). Empty: no "
        "clipping.",
        hint="no clipping", above_zero=1.0,
        shown_by=_is_synchronous, counts_if=_is_not_fit,
        constant="CLIP_NORM", comment="of the gradient summed over the replicas",
    )


@dataclass(frozen=True, kw_only=True)
class LauncherFields:
    """The engine that starts the tasks, and what it is asked for."""

    launcher: str = row(
        LOCAL, "Launcher",
        "Where the tasks run: on this machine, or as a job of a cluster.",
        decides="place",
    )
    ray_address: str | None = row(
        None, "Ray address",
        "host:port of the Ray cluster that this machine belongs to, as printed by ray start. "
        "Empty: a new cluster on this machine.",
        hint="a new cluster here", launchers=(RAY,),
    )
    nodes: int | None = row(
        None, "Nodes",
        "Nodes of the job. Empty: Slurm decides.",
        above_zero=2, launchers=(SLURM,),
    )
    cpus_per_task: int | None = row(
        None, "CPUs per task",
        "CPU cores per task. Empty: the cluster's default.",
        above_zero=4, launchers=(KUBERNETES, RAY, SLURM),
    )
    gpus_per_task: int | None = row(
        None, "GPUs per task",
        "GPUs per task. Empty: none; the tasks train on CPUs.",
        range=zero_or_more("Leave it empty for none."),
        launchers=(KUBERNETES, RAY, SLURM),
    )
    time_limit_minutes: int | None = row(
        None, "Time limit in minutes",
        "Minutes until the job ends. One minute before, it saves a checkpoint and stops. Empty: "
        "the partition's limit.",
        above_zero=60, launchers=(SLURM,),
    )
    partition: str | None = row(
        None, "Partition",
        "The Slurm partition. Empty: the default partition.",
        launchers=(SLURM,),
    )
    account: str | None = row(
        None, "Account",
        "The account to which the job is charged. Empty: your default account.",
        launchers=(SLURM,),
    )
    job_setup: str = row(
        "", "Commands to run first",
        "Shell commands that the job runs first, such as module load cuda.",
        hint="module load cuda", wide=True, launchers=(SLURM,),
    )
    container: str | None = row(
        None, "Container image",
        "The container image of the tasks. Kubernetes: an image with Python and TensorFlow. Slurm: "
        "an Apptainer image, or empty for none.",
        hint="none", launchers=(KUBERNETES, SLURM),
    )
    kubernetes_kind: str = row(
        "job", "Manifest kind",
        "The Kubernetes resource for the tasks; JobSet and TFJob need a controller.",
        launchers=(KUBERNETES,),
    )
    namespace: str | None = row(
        None, "Namespace",
        "The namespace of the pods. Empty: the namespace that kubectl uses.",
        hint="kubectl's", launchers=(KUBERNETES,),
    )
    volume_claim: str | None = row(
        None, "Volume claim",
        "The PersistentVolumeClaim of a volume that the pods and this machine share. It holds the "
        "runs.",
        hint="its name", launchers=(KUBERNETES,),
    )
    volume_path: str | None = row(
        None, "Path on the volume",
        "The path of the folder of runs on that volume. Empty: the volume's root.",
        hint="the root", launchers=(KUBERNETES,),
    )
    node_selector: str | None = row(
        None, "Node selector",
        "Labels that a pod's node must have: key=value, key=value. Empty: any node.",
        hint="key=value, key=value", launchers=(KUBERNETES,),
    )
    memory_gib_per_task: int | None = row(
        None, "GiB per task",
        "Memory per task in GiB. Empty: the cluster's default.",
        above_zero=16, launchers=(KUBERNETES,),
    )
    tpus_per_task: int | None = row(
        None, "TPU chips per task",
        "TPU chips for the task (strategy TPU). Empty: none.",
        range=zero_or_more("Leave it empty for none."), launchers=(KUBERNETES,),
    )


@dataclass(frozen=True, kw_only=True)
class StartFields:
    """The name of the run, what is kept of it, and how it runs and starts."""

    name: str = row(
        "", "Name of the run",
        "The name of the run, shown in lists.",
        hint="optional", decides="run",
    )
    archive: str | None = row(
        None, "Archive folder",
        "A folder that outlives this machine, such as /content/drive/MyDrive/runs on Colab. "
        "Records, checkpoints and the model are copied there during the run. Empty: no copies.",
        hint="no archive", wide=True, decides="run",
    )
    precision: str = row(
        "float32", "Precision",
        "The dtype of computations, or a mixed precision policy of Keras.",
    )
    steps_per_call: int | str | None = row(
        None, "Steps per graph call",
        "Steps per tf.function call. Empty: as many as take about 0.2 s, by an estimate. 1 helps "
        "debugging. epoch: one call for a whole epoch; the run then stops only at its end.",
        counts_if=_runs_graphs,
        constant="STEPS_PER_EXECUTION",
    )
    rendezvous_seconds: int | None = row(
        None, "Timeout to connect (s)",
        "How many seconds tasks wait for each other at the start. Empty: 180.",
        above_zero=180, decides="place", used_by=_has_workers,
    )
    restarts: int | None = row(
        None, "Restarts",
        "How often all tasks restart from the checkpoint after a task was killed. Empty: never on "
        "this machine, three times with Ray and Kubernetes. A killed worker of a chief restarts "
        "alone, without the other tasks.",
        range=zero_or_more("Leave it empty for the default."),
        launchers=(LOCAL, KUBERNETES, RAY),
    )
    start: str = row(
        "auto", "How processes start",
        "How processes start. auto: fork from a process that has imported TensorFlow, if that is "
        "safe and faster. cold: each process imports TensorFlow itself.",
        decides="run",
    )
    interpreter: str | None = row(
        None, "Python interpreter",
        "The Python that trains. Empty: this one.",
        wide=True, decides="run",
    )
    xla: bool = row(
        False, "Compile with XLA",
        "Compile each replica's step with XLA; the sum over the replicas and the weight update "
        "stay outside. It often helps on GPUs, less often on CPUs. The first step takes longer.",
        used_by=lambda strategy: not strategy.uncompiled, counts_if=_runs_graphs,
    )
    deterministic: bool = row(
        False, "Deterministic",
        "Use only deterministic operations, so that the same seed gives the same losses on GPUs "
        "too. Slower. If an operation has no deterministic version, the run fails and names it.",
        used_by=_is_synchronous,
    )
    eager: bool = row(
        False, "Run eagerly",
        "Run eagerly, to debug: slow, but print and breakpoints work.",
        shown_by=_is_synchronous,
    )
    gradient_norms: bool = row(
        False, "Gradient norms",
        "Record the norm of each replica's own gradient in each step. It is in the exported tables "
        "and TensorBoard, as gradient_norm. Very short steps take a little longer.",
        decides="run",
    )
    start_now: bool = row(
        False, "Skip the queue",
        "Start even if another run is using the device, instead of waiting for it.",
        decides="run",
    )
# fmt: on


SECTIONS: Mapping[str, type] = {
    "Model, data and loop": TrainingFields,
    "Devices and communication": DeviceFields,
    "Input pipeline and seed": InputFields,
    "Steps, optimizer and learning rate": RecipeFields,
    "Other machines": LauncherFields,
    "Name, archive and how it runs": StartFields,
}
"""The sections of a config, by their titles in the form."""
FIELDS: Mapping[str, Row] = {
    field.name: field.metadata["row"]
    for section in SECTIONS.values()
    for field in dataclasses.fields(section)
}
"""All rows by name, section by section."""
BATCH_SIZES = ("per_replica_batch_size", "global_batch_size")
"""The fields of which one decides the other."""
NOT_TRAINED = tuple(name for name, each in FIELDS.items() if each.decides == "run")
"""Fields that do not change the training: the run's name, its records, start and storage."""
OF_LAUNCHERS = tuple(name for name, each in FIELDS.items() if each.launchers)
"""Fields that not every launcher uses."""
NOT_IN_SCRIPTS = tuple(name for name, each in FIELDS.items() if each.decides != "training")
"""Fields that no script contains: they decide the place, time and records of a run."""
