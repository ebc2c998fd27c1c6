"""The tables of choices, with the needs of each choice and the words shown next to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath

from .config import RunConfig
from .fields import Traits


@dataclass(frozen=True)
class Choice:
    """One value of a field: its label and its meaning."""

    label: str
    help: str
    warning: str = ""
    """A fact that the user must know before using it."""
    short: str = ""
    """The label in the titles of runs; empty: the label."""


@dataclass(frozen=True)
class Strategy(Traits, Choice):
    """A `tf.distribute` strategy; `source` names its functions in `engine/strategies.py`."""

    source: str = ""
    place: int = 0
    """Its place among the strategies, the simplest first: of equally fast ones, it decides."""


@dataclass(frozen=True)
class Data(Choice):
    """A data set; `source` names its function in `engine/data.py`.

    Data with `files` have another one, `source` and `_folder`, that reads a folder of them.
    """

    source: str = ""
    accuracy: str = ""
    """The function of `tf.keras.metrics` that separates right answers from wrong answers."""
    model: str = ""
    """The model it is usually trained with."""
    train_examples: int | None = None
    """None: the config says how many there are."""
    test_examples: int | None = None
    """None: a fifth of those to train on."""
    files: tuple[str, ...] = ()
    """Files that a folder given for it must hold."""
    cache: str = ""
    """The folder of Keras' home in which Keras looks for these files."""
    packaged: str = ""
    """The folder in which a package of the operating system has them."""
    url: str = ""
    """The address from which Keras downloads files that its cache lacks."""
    remedy: str = ""
    """What to do if they are missing and cannot be downloaded."""
    features: int | None = None
    """Numbers in the features of an example; None: as many as `synthetic_features` says."""
    label_bytes: int = 0
    copies: int = 1
    """Copies of all examples that a process holds at once while it starts, at least."""

    def tests(self, train_examples: int) -> int:
        """Return the number of examples to test on beside so many to train on."""
        return max(1, train_examples // 5) if self.test_examples is None else self.test_examples


@dataclass(frozen=True)
class Model(Choice):
    """A model; `source` names its function in `engine/models.py`, `data` its possible data sets."""

    source: str = ""
    data: tuple[str, ...] = ()
    operations: int = 0
    """Floating-point operations of the forward pass of an example, about."""
    weights: int = 0
    """Its weights, without those that each feature of an example adds."""
    weights_per_feature: int = 0
    step_numbers: int = 0
    """Numbers of an example, besides its features, that a train step holds at once, at least.

    These are the outputs of two layers in turn, and their gradients."""


@dataclass(frozen=True)
class Optimizer(Choice):
    """An optimizer of Keras; `expression` makes one in the script, given a learning rate."""

    expression: str = ""
    slots: int = 0
    """Numbers that it keeps for each weight."""


@dataclass(frozen=True)
class CrossDeviceOps(Choice):
    """A way to sum gradients; `expression` is its code in the script."""

    expression: str = "None"


@dataclass(frozen=True)
class Preset(Choice):
    """A complete lesson, ready to train."""

    config: RunConfig = field(default_factory=RunConfig)


_LISTENS = (
    "Each process runs a TensorFlow server, which listens on every network interface and accepts "
    "connections from anyone. Use it only in a network that you trust."
)

STRATEGIES: Mapping[str, Strategy] = {
    "mirrored": Strategy(
        "Mirrored",
        "A copy of the model on each device of this machine; gradients are summed every step.",
        source="mirrored",
        place=2,
        mirrors=True,
        reduces=True,
    ),
    "one_device": Strategy(
        "OneDevice",
        "Everything on one chosen device: the usual baseline.",
        source="one_device",
    ),
    "default": Strategy(
        "Default",
        "No distribution; TensorFlow places each operation.",
        source="default",
        place=1,
    ),
    "central_storage": Strategy(
        "CentralStorage",
        "One copy of the variables, on the host; every device computes a replica.",
        source="central_storage",
        place=3,
        mirrors=True,
        uncompiled="whose variables are not on the replicas' devices",
    ),
    "multi_worker_mirrored": Strategy(
        "MultiWorkerMirrored",
        "Mirrored over several processes, each with a copy of the model; gradients are summed "
        "every step.",
        warning=_LISTENS,
        source="multi_worker",
        place=5,
        workers=True,
    ),
    "parameter_server": Strategy(
        "ParameterServer",
        "Workers train without waiting for each other; parameter servers hold the variables.",
        warning=_LISTENS,
        source="parameter_server",
        place=6,
        workers=True,
        synchronous=False,
        uncompiled="whose variables are in other processes",
    ),
    "tpu": Strategy(
        "TPU",
        "A copy of the model on each core of a TPU; gradients are summed every step.",
        source="tpu",
        place=4,
        tpu=True,
        uncompiled="which XLA always compiles",
    ),
}

SIMPLEST_FIRST = tuple(sorted(STRATEGIES, key=lambda name: STRATEGIES[name].place))

LOOPS: Mapping[str, Choice] = {
    "custom": Choice(
        "Custom loop",
        "A training loop written out in the script, to learn from; the fastest for small models.",
    ),
    "fit": Choice(
        "Keras fit",
        "model.fit drives training, with the model's own train_step and compiled loss.",
    ),
}

DATA: Mapping[str, Data] = {
    "synthetic": Data(
        "Synthetic",
        "Random features, labelled by a noisy linear rule; nothing to download.",
        source="synthetic",
        accuracy="binary_accuracy",
        model="mlp",
        label_bytes=4,
        copies=2,
    ),
    "fashion_mnist": Data(
        "Fashion-MNIST",
        "60,000 images of clothes to train on, 10,000 to test on, 28 x 28 grey, ten classes.",
        source="fashion_mnist",
        accuracy="sparse_categorical_accuracy",
        model="cnn",
        train_examples=60_000,
        test_examples=10_000,
        files=tuple(
            f"{part}-{kind}-ubyte.gz"
            for part in ("train", "t10k")
            for kind in ("images-idx3", "labels-idx1")
        ),
        cache="datasets/fashion-mnist",
        packaged="/usr/share/datasets/fashion-mnist",
        url="https://storage.googleapis.com/tensorflow/tf-keras-datasets/",
        remedy=(
            "Connect this machine to the internet (Kaggle has a switch for it in its settings), or "
            "copy the four files from another machine to ~/.keras/datasets/fashion-mnist."
        ),
        features=28 * 28,
        label_bytes=1,
    ),
}

MODELS: Mapping[str, Model] = {
    "mlp": Model(
        "MLP 16-8-1",
        "Two hidden layers and a sigmoid: small enough to see the cost of distribution.",
        source="mlp",
        short="MLP",
        data=("synthetic",),
        operations=600,
        weights=16 + (16 + 1) * 8 + 8 + 1,
        weights_per_feature=16,
        step_numbers=16 + 16 + 8,
    ),
    "dense": Model(
        "Dense 784-128-10",
        "One hidden layer over the flattened image.",
        source="dense",
        short="Dense",
        data=("fashion_mnist",),
        operations=200_000,
        weights=128 + (128 + 1) * 10,
        weights_per_feature=128,
        step_numbers=128 + 128 + 10,
    ),
    "cnn": Model(
        "CNN 32-64",
        "Two convolutions and two dense layers, L2 on every kernel.",
        source="cnn",
        short="CNN",
        data=("fashion_mnist",),
        operations=5_000_000,
        weights=(9 + 1) * 32 + (9 * 32 + 1) * 64 + (5 * 5 * 64 + 1) * 64 + (64 + 1) * 10,
        step_numbers=2 * (26 * 26 * 32 + 13 * 13 * 32),
    ),
}

CROSS_DEVICE_OPS: Mapping[str, CrossDeviceOps] = {
    "default": CrossDeviceOps(
        "TensorFlow's default", "Collective all-reduce: NCCL between GPUs of one machine."
    ),
    "nccl": CrossDeviceOps(
        "NCCL",
        "NVIDIA's all-reduce; needs real GPUs.",
        expression="tf.distribute.NcclAllReduce()",
    ),
    "hierarchical_copy": CrossDeviceOps(
        "HierarchicalCopy",
        "Reduces within groups of devices first; use it if NCCL hangs.",
        expression="tf.distribute.HierarchicalCopyAllReduce()",
    ),
    "reduction_to_one_device": CrossDeviceOps(
        "ReductionToOneDevice",
        "Copies to one device, sums there, copies back; works everywhere.",
        expression="tf.distribute.ReductionToOneDevice()",
    ),
}

COMMUNICATIONS: Mapping[str, Choice] = {
    "auto": Choice("Automatic", "TensorFlow chooses: NCCL between GPUs, else a ring."),
    "ring": Choice("Ring", "Over the network from worker to worker; CPUs and GPUs."),
    "nccl": Choice("NCCL", "NVIDIA's library; every worker needs GPUs."),
}

AUTO_SHARD: Mapping[str, Choice] = {
    "auto": Choice("Automatic", "File for the Sharded files pipeline, otherwise Data."),
    "data": Choice(
        "Data", "Every worker reads all data and trains on its own part of each global batch."
    ),
    "file": Choice(
        "File",
        "Every worker reads its own files, the same ones in every epoch, and never sees the "
        "others' files. Needs the Sharded files pipeline.",
    ),
    "off": Choice(
        "Off",
        "Every worker trains on the same examples in the same order. With N workers, an epoch "
        "covers only 1/N of the data, N times.",
    ),
}

PRECISIONS: Mapping[str, Choice] = {
    "float32": Choice("float32", "Single precision."),
    "float64": Choice("float64", "Double precision: slow; shows whether two runs agree."),
    "mixed_bfloat16": Choice("mixed bfloat16", "Half the memory; for TPUs and recent GPUs."),
    "mixed_float16": Choice("mixed float16", "Half the memory on GPUs; uses loss scaling."),
}

COMPILED = "compiled"

OPTIMIZERS: Mapping[str, Optimizer] = {
    "adam": Optimizer(
        "Adam",
        "Adaptive moments; a good first choice at 0.001.",
        expression="tf.keras.optimizers.Adam",
        slots=2,
    ),
    "sgd": Optimizer(
        "SGD", "Plain stochastic gradient descent.", expression="tf.keras.optimizers.SGD"
    ),
    "momentum": Optimizer(
        "SGD with momentum",
        "Stochastic gradient descent with momentum 0.9.",
        expression="functools.partial(tf.keras.optimizers.SGD, momentum=0.9)",
        slots=1,
    ),
    COMPILED: Optimizer(
        "As compiled", "The optimizer and learning rate that your own model is compiled with."
    ),
}

PIPELINES: Mapping[str, Choice] = {
    "usual": Choice(
        "Usual", "A tf.data pipeline; TensorFlow splits each global batch among the replicas."
    ),
    "indexed": Choice(
        "Indexed and stacked",
        "Each replica gathers its examples by index, for many steps at once. The same batches "
        "as Usual, but faster for small models.",
    ),
    "files": Choice(
        "Sharded files",
        "The training data is written to TFRecord files once, then read back and shuffled in a "
        "buffer. Its batches differ from those of the other pipelines.",
    ),
    "numpy": Choice(
        "NumPy arrays",
        "Arrays in memory, as in many tutorials: from_tensor_slices, shuffle with a buffer of all "
        "examples, batch. Its batches differ from those of the other pipelines.",
    ),
    "cached": Choice(
        "Kept in memory",
        "Your own data set is read in the first epoch and cached in memory. All later "
        "epochs repeat the order and the random augmentation of the first.",
    ),
}

LAST_BATCH: Mapping[str, Choice] = {
    "drop": Choice("Drop", "Leave out the examples of an epoch that do not fill a global batch."),
    "keep": Choice("Keep", "Train on them as a shorter batch (usual pipeline)."),
    "repeat": Choice(
        "Repeat",
        "Fill the last batch from the next shuffle; a batch may be larger than the data.",
    ),
}

LEARNING_RATE_SCALINGS: Mapping[str, Choice] = {
    "none": Choice("As given", "The learning rate as given, for any number of replicas."),
    "linear": Choice(
        "Linear", "Times the number of replicas, because the global batch grows with it."
    ),
    "square_root": Choice("Square root", "Times the square root of the number of replicas."),
}

KUBERNETES_KINDS: Mapping[str, Choice] = {
    "job": Choice("Indexed Job", "A plain Job with a pod for each task, and a headless service."),
    "jobset": Choice("JobSet", "Restarts all tasks together; needs the JobSet controller."),
    "tfjob": Choice("TFJob", "Kubeflow's training operator v1, with a part for each kind of task."),
}

STARTS: Mapping[str, Choice] = {
    "auto": Choice(
        "Automatic",
        "Fork from a process that has imported TensorFlow but not used it, if that is known to be "
        "safe. Otherwise start cold; the run says why.",
    ),
    "cold": Choice("Cold", "Each process imports TensorFlow itself, which takes seconds."),
}

LAUNCHERS: Mapping[str, Choice] = {
    "local": Choice("This machine", "Each task is a process here."),
    "kubernetes": Choice(
        "Kubernetes",
        "A pod for each task. The workbench writes the manifest, shows the commands, and follows "
        "the run on the volume that pods and this machine share.",
        warning=_LISTENS,
    ),
    "ray": Choice(
        "Ray",
        "Workers of a Ray cluster, placed by their CPUs and GPUs, through Ray Train. The workbench "
        "runs on a node of the cluster, in a folder that all nodes share.",
        warning=_LISTENS,
    ),
    "slurm": Choice(
        "Slurm",
        "A job of a Slurm cluster, with a task for each worker, chief and parameter server. The "
        "workbench runs on a login node, in a folder that all nodes share.",
        warning=_LISTENS,
    ),
}

CHOICES: Mapping[str, Mapping[str, Choice]] = {
    "strategy": STRATEGIES,
    "loop": LOOPS,
    "data": DATA,
    "model": MODELS,
    "cross_device_ops": CROSS_DEVICE_OPS,
    "communication": COMMUNICATIONS,
    "last_batch": LAST_BATCH,
    "pipeline": PIPELINES,
    "auto_shard": AUTO_SHARD,
    "optimizer": OPTIMIZERS,
    "learning_rate_scaling": LEARNING_RATE_SCALINGS,
    "precision": PRECISIONS,
    "launcher": LAUNCHERS,
    "start": STARTS,
    "kubernetes_kind": KUBERNETES_KINDS,
}
"""The table of values for each field."""

PRESETS: Mapping[str, Preset] = {
    "mlp_synthetic": Preset(
        "MLP on synthetic data",
        "The first lesson: 64 per replica, 5 epochs, trains in seconds.",
        config=RunConfig(data="synthetic", model="mlp", per_replica_batch_size=64, epochs=5),
    ),
    "dense_fashion_mnist": Preset(
        "Dense network on Fashion-MNIST",
        "784-128-10, 64 per replica, 5 epochs.",
        config=RunConfig(data="fashion_mnist", model="dense", per_replica_batch_size=64, epochs=5),
    ),
    "cnn_fashion_mnist": Preset(
        "CNN on Fashion-MNIST",
        "Two convolutions, 16 per replica, 10 epochs.",
        config=RunConfig(data="fashion_mnist", model="cnn", per_replica_batch_size=16, epochs=10),
    ),
}


def label_of(field: str, name: str) -> str:
    """Return the label of a choice; for a user's function, its name."""
    row = CHOICES[field].get(name)
    return row.label if row is not None else f"{name.rpartition(':')[2]}()"


def short_label_of(field: str, name: str) -> str:
    """Return the short label of a choice; for a user's function, its module and its name."""
    row = CHOICES[field].get(name)
    if row is not None:
        return row.short or row.label
    where, _, function = name.rpartition(":")
    module = PurePath(where or function).name.removesuffix(".py")
    # The file of a notebook's function is called by it, such as `build_model_1a2b3c4d.py`.
    return module if not where or module.startswith(function) else f"{module}.{function}"
