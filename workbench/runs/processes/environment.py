"""The interpreter, the folder and the environment with which a run's processes are started."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import sys
import zipapp
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.plan.launching import is_local
from workbench.runs.folder.card import INTERPRETER_HERE
from workbench.runs.folder.files import CARD, KEPT_CODE, SCRIPT, read_json
from workbench.runs.folder.plan import read_plan

from .own_modules import module_folders

if TYPE_CHECKING:
    from workbench.plan import Plan

SUPERVISOR_LOG = "supervisor.log"
OBSERVER = Path(__file__).parents[2] / "observe" / "__main__.py"
THREADS = "TF_NUM_INTRAOP_THREADS"
STOP_FD = "WORKBENCH_STOP_FD"
"""The variable that names the pipe through which a task is asked to stop."""
PACKAGE_ROOT = Path(__file__).parents[3]
"""The folder in which this package is found, whatever is in the folder of the caller."""


@dataclass(frozen=True)
class Launch:
    """The settings with which the run's train.py is started, and later its evaluation."""

    interpreter: str
    working_dir: Path
    """The folder in which the run was requested, so paths from there hold; else the run's."""
    module_dirs: tuple[Path, ...] = ()
    """The folders of the user's own modules, searched before all others."""
    legacy_keras: bool = False
    """Whether tf.keras is the tf-keras package."""
    cpu_replicas: int = 1
    """The replicas of the run that share a CPU, each with its part of the cores."""
    gradient_norms: bool = False
    """Whether the norms of gradients are recorded."""

    @classmethod
    def of(cls, run_dir: Path) -> Launch:
        """Return the settings of a run.

        Raises:
            RunError: its files cannot be read.
        """
        card, plan = read_json(run_dir / CARD), read_plan(run_dir)
        asked_from = Path(str(card.get("working_dir") or run_dir))
        working_dir = asked_from if asked_from.is_dir() else run_dir
        return replace(cls.of_plan(plan, working_dir, run_dir), interpreter=_interpreter(card))

    @classmethod
    def of_plan(cls, plan: Plan, working_dir: Path, run_dir: Path | None = None) -> Launch:
        """Return the settings for a plan's script; `run_dir` is None if it belongs to no run."""
        workers_here = plan.synchronous and len(plan.tasks) > 1 and is_local(plan.config)
        on_cpu = plan.physical_devices[0].startswith("CPU")
        shares_cpu = on_cpu and (plan.virtual or workers_here)
        return cls(
            plan.interpreter,
            working_dir,
            module_folders(plan, working_dir, run_dir),
            legacy_keras=plan.legacy_keras,
            cpu_replicas=plan.num_replicas_in_sync if shares_cpu else 1,
            gradient_norms=plan.config.gradient_norms,
        )

    @property
    def unset(self) -> list[str]:
        """The variables of this process's environment that the run's processes do not get."""
        # A notebook's MPLBACKEND names a module that the run's interpreter may not have.
        draws = os.environ.get("MPLBACKEND", "").startswith("module://")
        # TF_... variables belong to the process that requests the run: each task gets its own.
        return ["TF_CONFIG", "TF_USE_LEGACY_KERAS", *(["MPLBACKEND"] if draws else [])]

    @property
    def added(self) -> dict[str, str]:
        """The variables added to the environment of the run's processes, on any machine."""
        keras = {"TF_USE_LEGACY_KERAS": "1"} if self.legacy_keras else {}
        # Compiled files would be further code in the run's folder.
        kept = any(path.name == KEPT_CODE for path in self.module_dirs)
        compiled = {"PYTHONDONTWRITEBYTECODE": "1"} if kept else {}
        level = os.environ.get("TF_CPP_MIN_LOG_LEVEL", "1")
        return {**keras, **compiled, "TF_CPP_MIN_LOG_LEVEL": level, "PYTHONUNBUFFERED": "1"}

    def command(self, run_dir: Path, observer: Path = OBSERVER) -> list[str]:
        """Return the program that runs the run's script, and its arguments.

        `observer` is where the program finds the observer.

        A script that asks its supervisor itself whether to stop, as those of earlier releases do,
        records itself and runs as it is.

        Raises:
            OSError: the script cannot be read.
        """
        command = [str(run_dir / SCRIPT), "--run-dir", str(run_dir)]
        if STOP_FD in (run_dir / SCRIPT).read_text(encoding="utf-8", errors="replace"):
            return command
        norms = ["--gradient-norms"] if self.gradient_norms else []
        return [str(observer), "--run-dir", str(run_dir), *norms, *command]

    def environment(self) -> dict[str, str]:
        """Return this process's environment, changed as the run's processes need it."""
        here = {k: v for k, v in os.environ.items() if k not in self.unset}
        environment = {**here, **self.added}
        if self.cpu_replicas > 1:
            cores_per_replica = max(1, (os.cpu_count() or 1) // self.cpu_replicas)
            environment.setdefault(THREADS, str(cores_per_replica))
        if self.module_dirs:
            paths = [*map(str, self.module_dirs), environment.get("PYTHONPATH", "")]
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        return environment


def pack_observer(folder: Path) -> Path:
    """Write the observer as one file for other machines into a folder; return its path.

    Raises:
        OSError: it cannot be written.
    """
    packed = folder / "observe.pyz"
    zipapp.create_archive(OBSERVER.parent, packed, filter=lambda path: path.suffix == ".py")
    return packed


def observed(script: str, *, gradient_norms: bool = False) -> str:
    """Return the command that runs a script under the packed observer beside it."""
    norms = " --gradient-norms" if gradient_norms else ""
    return f"python observe.pyz --run-dir run{norms} {shlex.quote(script)}"


def _interpreter(card: Mapping[str, Any]) -> str:
    """Return the run's interpreter; while it is missing, the one from here.

    So it is for a run that was restored, or was started by hand.
    """
    own, here = str(card.get("interpreter") or sys.executable), card.get(INTERPRETER_HERE)
    if card.get("by_hand"):
        here = sys.executable
        own = own if card.get("host") == platform.node() else here
    return own if here is None or shutil.which(own) else str(here)
