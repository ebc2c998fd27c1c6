"""What a plan's model is made of, asked of a child of the run's interpreter."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from .codegen import render_script
from .devices.tpu_build import WITHOUT_TPU
from .plan import PlanError, Problem
from .plan.own_function import module_file
from .runs.launch import Launch

if TYPE_CHECKING:
    from .plan import Plan
    from .plan.own_function import OwnFunction

SCRIPT = Path(__file__).parent / "engine" / "programs" / "inspect_model.py"
TIMEOUT_SECONDS = 300.0
ANSWER = '{"layers": '
ENDED = "it ended the process that called it"


@dataclass(frozen=True)
class ModelSummary:
    """Layers, counts of parameters, and bytes on each replica."""

    layers: tuple[tuple[str, str, str, int], ...]
    """Name, type, output shape without the batch, parameters."""
    parameters: int
    trainable_parameters: int
    weight_bytes: int
    optimizer_bytes: int
    gradient_bytes_per_step: int
    """What each replica gives to the sum over replicas in a step."""

    @property
    def replica_bytes(self) -> int:
        """Weights and optimizer state on each replica; activations are not counted."""
        return self.weight_bytes + self.optimizer_bytes


def inspect_model(plan: Plan, timeout_seconds: float = TIMEOUT_SECONDS) -> ModelSummary:
    """Build the plan's model in a process of the run's interpreter; takes seconds, once.

    A model imported from a module of the working folder is built again once its file has changed.

    Raises:
        PlanError: the model cannot be built, or not in time; the problem's field is `model`.
    """
    text, own, here = render_script(plan), plan.own_model, Path.cwd()
    key = hashlib.sha256(f"{text}{_changed(own)}".encode()).hexdigest()
    module_dir = here if own is not None and own.module is not None else None
    launch = Launch(plan.interpreter, here, module_dir, plan.keras == "legacy")
    return _inspect(key, text, launch, plan.model, timeout_seconds)


@lru_cache(maxsize=32)
def _inspect(
    key: str, text: str, launch: Launch, model: str, timeout_seconds: float
) -> ModelSummary:
    with tempfile.TemporaryDirectory(prefix="workbench-") as folder:
        path = Path(folder) / f"train_{key[:8]}.py"
        path.write_text(text, encoding="utf-8")
        try:
            child = subprocess.run(
                [launch.interpreter, str(SCRIPT), str(path)],
                capture_output=True,
                text=True,
                errors="replace",  # a model can print any bytes
                timeout=timeout_seconds,
                check=False,
                cwd=launch.working_dir,
                # No module of the engine, beside which the program lies, hides one of the user's.
                env={
                    **launch.environment(),
                    **WITHOUT_TPU,
                    "TF_CPP_MIN_LOG_LEVEL": "3",
                    "PYTHONSAFEPATH": "1",
                },
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise _problem(model, str(error)) from error
    answers = [line for line in child.stdout.splitlines() if line.startswith(ANSWER)]
    if child.returncode != 0 or not answers:
        said = _last_line(child.stderr)
        raise _told(said) or _problem(model, said if child.returncode else ENDED)
    values = json.loads(answers[-1])
    return ModelSummary(**{**values, "layers": tuple(map(tuple, values["layers"]))})


def _changed(own: OwnFunction | None) -> str:
    """When an imported model's file was last written: its text is not in the script."""
    file = module_file(own.module) if own is not None and own.module is not None else None
    return "" if file is None else f"{file} {file.stat().st_mtime_ns}"


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it ended without a word"


def _told(line: str) -> PlanError | None:
    """Return what the script itself says of a model that it cannot train; None: it says nothing."""
    # Of the model, not what it says of the data.
    of_model = r"a model|a tf\.keras\.Model|labels from|losses that|a loss (?:of|whose)"
    said = re.fullmatch(rf"Needs ((?:{of_model}) [^;]+); (.+)\. (.+)", line)  # rule, got, fix
    return PlanError((Problem("model", *said.groups()),)) if said else None


def _problem(model: str, got: str) -> PlanError:
    rule = "a function that builds a compiled Keras model in the run's interpreter"
    fix = f"Call {model} by itself in that interpreter and mend what it says."
    return PlanError((Problem("model", rule, got, fix),))
