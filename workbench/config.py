"""The user's request: one frozen dataclass, to and from JSON, with no checks except types."""

from __future__ import annotations

import dataclasses
import functools
import json
import numbers
import os
import re
import traceback
import types
import typing
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

CONFIG_VERSION = 1
_OF_PACKAGES = re.compile(rf"site-packages|dist-packages|^{re.escape(str(Path(__file__).parent))}")
"""The files of this package and of installed ones, in a traceback."""
NOT_TRAINED = ("name", "interpreter", "gradient_norms", "start", "start_now", "archive")
"""Fields that do not change the training: the run's name, its records, start and storage."""


@dataclass(frozen=True)
class Problem:
    """The problem of one field, in words that complete "FIELD must be ..."."""

    field: str
    rule: str
    got: str
    fix: str

    def __str__(self) -> str:
        return f"{self.field} must be {self.rule}; got {self.got}. {self.fix}"


class ConfigError(ValueError):
    """A config that cannot be used, with every problem found in it."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows: the caller's own frames, then the problems."""
        frames = traceback.extract_tb(self.__traceback__)
        own = [frame for frame in frames if not _OF_PACKAGES.search(frame.filename)]
        return [*map(str.rstrip, traceback.format_list(own)), f"{type(self).__name__}: {self}"]


@dataclass(frozen=True)
class RunConfig:
    """Everything that defines a run. `None` means that the plan chooses and shows its choice.

    The flags of the command line and the fields of the form have the names of these fields.
    Therefore a problem that names a field can be shown next to it. NumPy's numbers, paths and
    lists of device names become plain values.

    Raises:
        ConfigError: values have a wrong type; the error holds all of them.
    """

    name: str = ""
    """Free text shown in lists of runs; it never becomes code."""
    strategy: str = "mirrored"
    loop: str = "custom"
    data: str = "synthetic"
    """A catalogue name, or the user's own `module:function` or `file.py:function`."""
    model: str | None = None
    """A catalogue name, or the user's own `module:function` or `file.py:function`.

    None: the usual model for the data."""
    step: str | None = None
    """The user's own train step of the custom loop, `module:function` or `file.py:function`."""
    devices: tuple[str, ...] | None = None
    """Physical devices such as `("GPU:0", "GPU:2")`. None: every GPU, else the CPU."""
    replicas: int | None = None
    """Replicas in sync. None: one for each GPU, or two virtual ones on the CPU."""
    workers: int | None = None
    """Worker processes of MultiWorkerMirrored and ParameterServer. None: two, or a
    ParameterServer worker on each GPU."""
    parameter_servers: int | None = None
    """Processes that hold the variables under ParameterServer. None: one."""
    evaluator: bool = False
    """Whether a separate process tests the checkpoints under ParameterServer."""
    tpu: str = "local"
    """`local` on a TPU VM, or the name of a Cloud TPU."""
    cross_device_ops: str = "default"
    communication: str = "auto"
    """How workers sum gradients: auto, ring or nccl."""
    bytes_per_pack: int = 0
    """Size in bytes of the packs in which gradients are sent. 0: TensorFlow decides."""
    gpu_memory: str | int = "growth"
    """`all`: all of it from the start (TensorFlow's way); `growth`: as needed; or a limit in MiB
    for each replica."""
    per_replica_batch_size: int | None = None
    global_batch_size: int | None = None
    last_batch: str = "drop"
    """The use of an epoch's examples that do not fill a global batch: drop, keep or repeat."""
    pipeline: str = "usual"
    auto_shard: str = "auto"
    """How training data is split among workers: auto, data, file or off."""
    data_files: int = 8
    """Files that the pipeline `files` writes the training data to."""
    epochs: int = 5
    steps_per_epoch: int | None = None
    """None: all data once. More steps than the data can fill repeat the data."""
    optimizer: str | None = None
    """None: adam, or for the user's own model `compiled`: the optimizer it is compiled with."""
    learning_rate: float = 0.001
    learning_rate_scaling: str = "none"
    """How the learning rate grows with the replicas: none, linear or square_root."""
    clip_norm: float | None = None
    """Clip by the global norm of the gradient summed over replicas (custom loop). None: never."""
    precision: str = "float32"
    """float32, float64, mixed_bfloat16 or mixed_float16."""
    xla: bool = False
    """Whether XLA compiles each replica's step."""
    steps_per_call: int | str | None = None
    """Steps in one graph call. None: about 0.2 s of them by estimate. 1 helps debugging.
    `epoch`: a complete epoch; the run then records and stops only at the end of an epoch."""
    eager: bool = False
    deterministic: bool = False
    """Whether operations that round differently each time, as on GPUs, give way to operations that
    do not."""
    gradient_norms: bool = False
    """Whether each step records the norm of each replica's own gradient."""
    seed: int = 42
    data_dir: str | None = None
    synthetic_examples: int = 10_000
    synthetic_features: int = 10
    synthetic_noise: float = 0.1
    """Standard deviation of the noise added before the label is decided."""
    rendezvous_seconds: int | None = None
    """How long tasks may take to find each other. None: 180."""
    interpreter: str | None = None
    """The Python that trains. None: the Python that plans."""
    start_now: bool = False
    """Whether the run starts although another run holds the device, instead of waiting."""
    start: str = "auto"
    """How the run's processes start on this machine. auto: forked from a process that has
    TensorFlow loaded, if that is safe and faster. cold: each process imports TensorFlow itself."""
    restarts: int | None = None
    """How often all tasks start again from the checkpoint after a task was killed or lost. None:
    never on this machine, three times with ray and kubernetes. Slurm has its own rules. A worker
    of a chief starts again alone."""
    launcher: str = "local"
    """Where the tasks run: local, on this machine, or as a job of kubernetes, ray or slurm."""
    ray_address: str | None = None
    """`host:port` of a Ray cluster. None: a new one on this machine, for this run."""
    nodes: int | None = None
    """Hosts of the job. None: the engine decides."""
    cpus_per_task: int | None = None
    gpus_per_task: int | None = None
    """GPUs that each task has on its host. None: no GPU; the task computes on CPUs."""
    time_limit_minutes: int | None = None
    partition: str | None = None
    account: str | None = None
    job_setup: str = ""
    """Lines of shell that the job runs first, such as `module load cuda`."""
    container: str | None = None
    """The image in which each task runs. Slurm: an Apptainer image; None is the host itself."""
    kubernetes_kind: str = "job"
    """The kind of the tasks in Kubernetes: job, jobset or tfjob."""
    namespace: str | None = None
    volume_claim: str | None = None
    """The claim of the volume with the folder of runs, which all pods and this machine share."""
    volume_path: str | None = None
    """The path of the folder of runs on the volume. None: the volume's root."""
    node_selector: str | None = None
    """Labels that the nodes must have: `key=value`, separated by commas."""
    memory_gib_per_task: int | None = None
    tpus_per_task: int | None = None
    """TPU chips of the single task of the strategy tpu."""
    archive: str | None = None
    """A folder that outlives the machine; an active run is copied there. None: no copy."""

    def __post_init__(self) -> None:
        problems = []
        for name, hint in field_types().items():
            given = getattr(self, name)
            if given is getattr(RunConfig, name):  # a default has its field's type
                continue
            try:
                object.__setattr__(self, name, _plain(given, hint))
            except (TypeError, OverflowError):
                fix = f"Set {name} to {_example(name, hint)}, for example."
                problems.append(Problem(name, _type_name(hint), _shown(given), fix))
        if problems:
            raise ConfigError(problems)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values with the format's version first."""
        return {"version": CONFIG_VERSION, **json.loads(json.dumps(dataclasses.asdict(self)))}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> RunConfig:
        """Return the config that `to_json` wrote.

        Raises:
            ConfigError: no JSON object, a newer version, unknown fields, or values of a wrong type.
        """
        return cls(**fields_in(values))


@functools.cache
def field_types() -> dict[str, Any]:
    """Return each field's name and type."""
    return typing.get_type_hints(RunConfig)


def fields_in(values: object) -> dict[str, Any]:
    """Return the fields of a config in JSON; their types are not yet checked.

    Raises:
        ConfigError: no JSON object, a newer version, or unknown fields.
    """
    if not isinstance(values, dict):
        fix = 'Write it as {"version": 1, ...}.'
        raise ConfigError([Problem("config", "a JSON object", _shown(values), fix)])
    version = values.get("version", CONFIG_VERSION)
    if type(version) is not int or not 1 <= version <= CONFIG_VERSION:
        fix = (
            f"Install the release that wrote it, or set the version to {CONFIG_VERSION} and remove "
            "the fields that this release does not know."
        )
        rule = f"{CONFIG_VERSION}, the version that this release reads"
        raise ConfigError([Problem("version", rule, _shown(version), fix)])
    given = {name: value for name, value in values.items() if name != "version"}
    unknown = [name for name in given if name not in field_types()]
    if unknown:
        raise ConfigError(
            Problem(
                name,
                "a field of a config",
                "an unknown name",
                did_you_mean(name, field_types(), "Remove it."),
            )
            for name in unknown
        )
    return given


def did_you_mean(name: str, known: Iterable[str], otherwise: str) -> str:
    """Return a sentence that offers the nearest known name; `otherwise` if no name is near."""
    by_lower = {each.lower(): each for each in known}
    close = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.5)
    return f"Did you mean {by_lower[close[0]]}?" if close else otherwise


def _plain(value: Any, hint: Any) -> Any:
    """Return the value in the hint's own type; raise TypeError if it has another type."""
    for option in _options(hint):
        kind, read = _KINDS[option]
        if isinstance(value, kind) and (option is bool or not isinstance(value, bool)):
            return read(value)
    raise TypeError


def _text(value: Any) -> str:
    text = str(os.fspath(value))
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise TypeError from error
    return text


def _names(value: Any) -> tuple[str, ...]:
    if not all(isinstance(item, str) for item in value):
        raise TypeError
    return tuple(map(_text, value))


_KINDS: dict[Any, tuple[Any, Any]] = {
    type(None): (type(None), lambda _: None),
    bool: (bool, bool),
    int: (numbers.Integral, int),
    float: (numbers.Real, float),
    str: (str | os.PathLike, _text),
    tuple[str, ...]: (list | tuple, _names),
}
_TYPE_NAMES = {
    type(None): "None",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    tuple[str, ...]: "a list of names",
}


def _type_name(hint: Any) -> str:
    return " or ".join(_TYPE_NAMES[option] for option in _options(hint))


_EXAMPLES: dict[Any, Any] = {int: 2, float: 0.5, str: "text", tuple[str, ...]: ["CPU:0"]}


def _example(name: str, hint: Any) -> str:
    """Return a value of the field as JSON: its default, or any value of its type."""
    default = getattr(RunConfig, name)
    return json.dumps(_EXAMPLES[_options(hint)[0]] if default is None else default)


def _options(hint: Any) -> tuple[Any, ...]:
    return typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
