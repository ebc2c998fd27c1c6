"""Print the reply of a script to each TF_CONFIG, all in one process: `ask_tasks.py SCRIPT`.

Reads a JSON list of TF_CONFIG texts and prints the JSON list of the script's last messages.
"""

import importlib.util
import json
import os
import sys
from typing import Any


def main() -> None:
    spec = importlib.util.spec_from_file_location("script", sys.argv[1])
    assert spec is not None
    assert spec.loader is not None
    script: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    replies = []
    for text in json.load(sys.stdin):
        os.environ["TF_CONFIG"] = text
        try:
            script.run_task(**dict.fromkeys(("chief", "worker", "ps"), lambda: None))
            replies.append("it is a task")
        except SystemExit as end:
            replies.append(str(end.code))
    json.dump(replies, sys.stdout)


if __name__ == "__main__":
    main()
