"""Begins a fork server: `begin.py FOLDER NAME LOCK_FD ROOM MODULE...`, in the run's interpreter.

ROOM is text that makes room for the command lines of what is forked from it. That interpreter may
lack the workbench, and no file here may hide a module of the user's: so the program is a package
with a name of its own, and `sys.path` keeps what a script finds there.
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
    """Serve as nobody's child; go on as what was ordered in a process that was forked for it."""
    if os.fork():
        os._exit(0)
    signal.alarm(LOAD_SECONDS)  # until it settles, which is a fork: the alarm is not for that
    here = pathlib.Path(__file__).parent.absolute()
    package = types.ModuleType(PACKAGE)
    package.__path__ = [str(here)]
    sys.modules[PACKAGE] = package
    if not sys.flags.safe_path:
        del sys.path[0]  # this folder, in which nothing else is to be found
    sys.path[:] = [str(pathlib.Path.cwd() / path) for path in sys.path]
    folder, name, lock_fd, _, *modules = sys.argv[1:]
    server = importlib.import_module(f"{PACKAGE}.server")
    worker = importlib.import_module(f"{PACKAGE}.worker")
    worker.show_as([sys.executable, "-u", str(here / "begin.py"), folder, name, *modules])
    start = worker.Start.now()
    os.chdir("/")  # whichever folder it was started from can go
    order = server.Server(pathlib.Path(folder), name, int(lock_fd)).serve(modules)
    if order is not None:
        worker.obey(order, start)


if __name__ == "__main__":
    main()
