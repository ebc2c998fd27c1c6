"""What a script says to each TF_CONFIG, in one process: `ask_tasks.py SCRIPT`, JSON in and out.

Reads a list of TF_CONFIG texts and prints the list of what the script ended with.
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
    answers = []
    for text in json.load(sys.stdin):
        os.environ["TF_CONFIG"] = text
        try:
            script.run_task(worker=lambda: None)
            answers.append("it is a task")
        except SystemExit as end:
            answers.append(str(end.code))
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
