"""Load the data of a script in several ways, in one process: `read_data.py SCRIPT < CASES`.

A case is [folder or null for the usual folders, home, folder of unpacked files or null]. Prints
the shapes and checks of each case, or the message at its end.
"""

import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np


def outcome(script: Any, folder: str | None, home: str, unpacked: str | None) -> object:
    """Return the facts about the loaded data, or the message that ended the load."""
    os.environ["HOME"] = home
    script.DATA_DIR, script.PUBLISHED_DIR = folder, unpacked
    try:
        train, test = script.make_data()
    except SystemExit as end:
        return str(end.code)
    images, labels = map(np.asarray, train)
    levels = np.arange(256, dtype=np.float32) / np.float32(255)
    return {
        "shapes": [list(part.shape) for part in (*train, *test)],
        "types": [str(images.dtype), str(labels.dtype)],
        "range": [float(images.min()), float(images.max())],
        "levels": bool((np.unique(images) == levels).all()),
        "classes": sorted(set(labels.tolist())),
    }


def main() -> None:
    spec = importlib.util.spec_from_file_location("train", Path(sys.argv[1]))
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    cases = json.load(sys.stdin)
    results = {name: outcome(script, *case) for name, case in cases.items()}
    sys.stdout.write(json.dumps(results) + "\n")


if __name__ == "__main__":
    main()
