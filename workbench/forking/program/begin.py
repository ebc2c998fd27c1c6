"""Starts a fork server: `begin.py FOLDER NAME LOCK_FD ROOM MODULE...`, in the run's interpreter.

ROOM is text that makes room for the command lines of the forked processes. That interpreter may
lack the workbench, and no file here may hide a module of the user. So the program is a package with
its own name, and `sys.path` has only the entries that a script finds there.
"""

import importlib
import os
import pathlib
import signal
import sys
import types

PACKAGE = "workbench_forking"
LOAD_SECONDS = 300


def main() -> None:
    """Serve, detached from the parent process. In a process forked for an order, run the order."""
    if os.fork():
        os._exit(0)
    signal.alarm(LOAD_SECONDS)  # ends when it settles: a fork does not inherit an alarm
    here = pathlib.Path(__file__).parent.absolute()
    package = types.ModuleType(PACKAGE)
    package.__path__ = [str(here)]
    sys.modules[PACKAGE] = package
    if not sys.flags.safe_path:
        del sys.path[0]  # this folder: no other module may be found in it
    sys.path[:] = [str(pathlib.Path.cwd() / path) for path in sys.path]
    folder, name, lock_fd, _, *modules = sys.argv[1:]
    server = importlib.import_module(f"{PACKAGE}.server")
    worker = importlib.import_module(f"{PACKAGE}.worker")
    worker.show_as([sys.executable, "-u", str(here / "begin.py"), folder, name, *modules])
    start = worker.Start.now()
    os.chdir("/")  # the folder it was started from may be removed
    order = server.Server(pathlib.Path(folder), name, int(lock_fd)).serve(modules)
    if order is not None:
        worker.obey(order, start)


if __name__ == "__main__":
    main()
