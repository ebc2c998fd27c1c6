"""Runs a program of this folder: `python run.py NAME ARGUMENTS...`, in the run's interpreter.

That interpreter may lack the workbench, and no file here may hide a module of the user. So the
programs are modules of a package with its own name, and `sys.path` stays unchanged.
"""

import importlib
import pathlib
import runpy
import sys
import types

PACKAGE = "workbench_programs"


def main() -> None:
    """Run the program as `__main__`, with its own arguments."""
    package = types.ModuleType(PACKAGE)
    package.__path__ = [str(pathlib.Path(__file__).parent)]
    sys.modules[PACKAGE] = package
    importlib.import_module(f"{PACKAGE}.asker").meet()
    del sys.argv[0]
    runpy.run_module(f"{PACKAGE}.{sys.argv[0]}", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
