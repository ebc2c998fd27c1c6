"""Let a script's server end after its chief: `end_with_chief SCRIPT FOLDER`; print that it waits.

The end of an earlier chief is dated far in the future, the end of its own chief in the past.
"""

import json
import runpy
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

SEVERAL_LOOKS = 0.6


def main() -> None:
    """Leave this process with status 0 only if the chief's end is seen."""
    folder = Path(sys.argv[2])
    events = folder / "chief-0" / "events.jsonl"
    events.parent.mkdir()

    def end(at: float) -> None:
        with events.open("a") as file:
            file.write(json.dumps({"time": at, "event": "stopped"}) + "\n")

    end(time.time() + 600)
    stop = threading.Event()
    runpy.run_path(sys.argv[1])["end_with_chief"](SimpleNamespace(dir=folder, stop=stop))
    stop.set()
    time.sleep(SEVERAL_LOOKS)
    sys.stdout.write("waits\n")
    sys.stdout.flush()
    end(1.0)
    threading.Event().wait(60)
    sys.exit("The server must end with its chief; it goes on.")


main()
