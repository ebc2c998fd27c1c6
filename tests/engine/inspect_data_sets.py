"""Inspect functions of this folder in one process: `inspect_data_sets.py MODULE:FUNCTION...`.

Prints a JSON object with the facts about the data of each function, or the problem with it.
"""

import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

from workbench.engine.programs.inspect_data import __main__ as program
from workbench.engine.programs.inspect_data import batches, datasets

ENDLESS = ("endless_unknown", "endless_batches", "generated_endlessly", "slow_sequence")
"""The data sets whose count of examples stops at once; others are counted to their end."""


def inspect(function: str, module: str) -> dict[str, Any]:
    """Return the inspection of a function."""
    datasets.COUNT_SECONDS = batches.LOOK_SECONDS = 0.0 if function in ENDLESS else 600.0
    request = {"function": function, "module": module}
    output = io.StringIO()
    sys.stdin = io.StringIO(json.dumps(request))
    with contextlib.redirect_stdout(output), contextlib.suppress(SystemExit):
        program.main()
    found: dict[str, Any] = json.loads(output.getvalue())
    return found


def main() -> None:
    sys.path.insert(0, str(Path(__file__).parent))
    asked = [address.partition(":") for address in sys.argv[1:]]
    found = {function: inspect(function, module) for module, _, function in asked}
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
