"""Runs a program of this folder: `python run.py NAME ARGUMENTS...`, in the run's interpreter.

That interpreter may lack the workbench, and no file here may hide a module of the user. So engine
and observer are packages with names of their own, and `sys.path` stays unchanged.
"""

import importlib
import pathlib
import runpy
import sys
import types

PACKAGE = "workbench_engine"
OBSERVER = "workbench_observe"


def main() -> None:
    """Run the program as `__main__`, with its own arguments."""
    here = pathlib.Path(__file__).parent
    for name, folder in {PACKAGE: here.parent, OBSERVER: here.parents[1] / "observe"}.items():
        package = types.ModuleType(name)
        package.__path__ = [str(folder)]
        sys.modules[name] = package
    importlib.import_module(f"{PACKAGE}.programs.asker").meet()
    del sys.argv[0]
    runpy.run_module(f"{PACKAGE}.programs.{sys.argv[0]}", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
