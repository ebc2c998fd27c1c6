"""The processes of a fork server, as the system lists them."""

import psutil

from workbench.forking import ForkServer


def processes_of(server: ForkServer) -> list[psutil.Process]:
    """Return the processes of the server: one, or several after an error.

    Servers with other state folders can have the same name.
    """
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        arguments = process.info["cmdline"] or ()
        ours = {str(server.folder), server.name} <= set(arguments)
        if ours and process.info["status"] != psutil.STATUS_ZOMBIE:
            found.append(process)
    return found


def server_process(server: ForkServer) -> psutil.Process:
    """Return the process that forks."""
    # For a moment after its fork, a keeper has the same command line.
    return min(processes_of(server), key=psutil.Process.create_time)
