"""Runs a script under observation: `python observe [OPTIONS] SCRIPT [ARGUMENTS...]`.

`observe` is this folder, or a zip file of it. No file of it may hide a module of the script, so
the files are modules of a package with its own name, and `sys.path` is as the script expects it.
"""

import importlib
import pathlib
import sys
import types

PACKAGE = "workbench_observe"


def main() -> None:
    """Load the observer, which runs the script and ends this process."""
    here = pathlib.Path(__file__).parent.absolute()
    package = types.ModuleType(PACKAGE)
    package.__path__ = [str(here)]
    sys.modules[PACKAGE] = package
    sys.path[:] = [path for path in sys.path if pathlib.Path(path or ".").absolute() != here]
    importlib.import_module(f"{PACKAGE}.process").run(sys.argv[1:])


if __name__ == "__main__":
    main()
