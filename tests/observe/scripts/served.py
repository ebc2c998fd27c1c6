"""Serve until the chief has ended: `served.py FOLDER`; prints that it waits for its own chief.

The end of an earlier chief is dated far in the future, the end of its own chief in the past.
"""

import json
import os
import pathlib
import socket
import sys
import threading
import time

import tensorflow as tf

from workbench.observe.kerases import Patches
from workbench.observe.scheduled import watch_servers

SEVERAL_LOOKS = 0.6
folder = pathlib.Path(sys.argv[1])
events = folder / "chief-0" / "events.jsonl"
events.parent.mkdir()


def end(at: float) -> None:
    with events.open("a") as file:
        file.write(json.dumps({"time": at, "event": "stopped"}) + "\n")


def end_the_chief() -> None:
    stop.set()
    time.sleep(SEVERAL_LOOKS)
    sys.stdout.write("waits\n")
    sys.stdout.flush()
    end(1.0)


end(time.time() + 600)
stop = threading.Event()
os.environ["WORKBENCH_STOP_FD"] = "0"  # of a supervisor
watch_servers(
    Patches(), events.parent, "worker-0", stop, lambda name: sys.stdout.write(f"{name}\n")
)
with socket.create_server(("localhost", 0)) as probe:
    address = f"localhost:{probe.getsockname()[1]}"
server = tf.distribute.Server(tf.train.ClusterSpec({"worker": [address]}), "worker", 0)
threading.Thread(target=end_the_chief).start()
server.join()
