"""The import of a run's script, whose parts the programs use."""

import importlib.util
import pathlib
import sys
from typing import Any


def import_script(path: pathlib.Path) -> Any:
    """Return a script as a module; its `main` does not run."""
    spec = importlib.util.spec_from_file_location("train", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"The script {path} cannot be imported. Restore it.")
    module = importlib.util.module_from_spec(spec)
    sys.modules["train"] = module  # AutoGraph finds the source through it
    spec.loader.exec_module(module)
    return module
