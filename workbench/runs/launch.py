"""What a run's own processes are started with: interpreter, folder and environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SUPERVISOR_LOG = "supervisor.log"
PACKAGE_ROOT = Path(__file__).parents[2]
"""From here this very package is found, whatever lies in the folder of who starts a process."""


@dataclass(frozen=True)
class Launch:
    """How the run's train.py is started, and later its evaluation."""

    interpreter: str
    working_dir: Path
    """The folder where the run was asked for, so that paths given there hold; else the run's."""
    module_dir: Path | None
    """Where modules of one's own are looked for, after all others; None where none is imported."""
    legacy_keras: bool = False
    """Whether tf.keras is the tf-keras package."""

    @classmethod
    def of(cls, run_dir: Path, card: Mapping[str, Any], plan: Mapping[str, Any]) -> Launch:
        """Tell it from run.json and plan.json."""
        asked_from = Path(str(card.get("working_dir") or run_dir))
        working_dir = asked_from if asked_from.is_dir() else run_dir
        imports_own = (plan.get("own_model") or {}).get("module") is not None
        interpreter = str(card.get("interpreter") or sys.executable)
        module_dir = working_dir if imports_own else None
        return cls(interpreter, working_dir, module_dir, plan.get("keras") == "legacy")

    def environment(self) -> dict[str, str]:
        """Return this process's environment with what the run's processes need."""
        environment = dict(os.environ)
        # A notebook's MPLBACKEND names a module that the run's interpreter may not have.
        if environment.get("MPLBACKEND", "").startswith("module://"):
            del environment["MPLBACKEND"]
        # They belong to the process that asks for the run: each task is given its own.
        for name in ("TF_CONFIG", "TF_USE_LEGACY_KERAS"):
            environment.pop(name, None)
        if self.legacy_keras:
            environment["TF_USE_LEGACY_KERAS"] = "1"
        environment.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")
        if self.module_dir is not None:
            paths = filter(None, [environment.get("PYTHONPATH"), str(self.module_dir)])
            environment["PYTHONPATH"] = os.pathsep.join(paths)
        return environment | {"PYTHONUNBUFFERED": "1"}
