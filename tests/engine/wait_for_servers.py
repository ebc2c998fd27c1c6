"""Let a script's chief wait for a server: `wait_for_servers SCRIPT`; print whether it waits.

The first server listens late, the second never does.
"""

import json
import runpy
import socket
import sys
import threading

LONG_ENOUGH_TO_RETURN = 0.2


def bound() -> tuple[socket.socket, str]:
    """Return a socket with an address that refuses connections until the socket listens."""
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    return server, f"127.0.0.1:{server.getsockname()[1]}"


def main() -> None:
    wait_for_servers = runpy.run_path(sys.argv[1])["wait_for_servers"]
    stop, waits = threading.Event(), []
    for job in ("worker", "ps"):
        server, address = bound()
        cluster = {"chief": ["127.0.0.1:1"], job: [address]}
        waiting = threading.Thread(target=wait_for_servers, args=(cluster, stop))
        waiting.start()
        waiting.join(LONG_ENOUGH_TO_RETURN)
        waits.append(waiting.is_alive())
        if job == "worker":
            server.listen()
        else:
            stop.set()
        waiting.join()
    sys.stdout.write(json.dumps(waits) + "\n")


main()
