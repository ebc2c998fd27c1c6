"""Looks at functions of one file in one process: `inspect_data_sets.py FILE FUNCTION...`.

Prints what each gives, or the problem with it, as a JSON object.
"""

import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

from workbench.engine.programs import inspect_data

ENDLESS = "endless_unknown"
"""Whose examples are counted for no time at all; those of all others are counted to their end."""


def told(function: str, source: str) -> dict[str, Any]:
    """What is told of a function."""
    inspect_data.COUNT_SECONDS = 0.0 if function == ENDLESS else 600.0
    request = {"function": function, "module": None, "source": source}
    said = io.StringIO()
    sys.stdin = io.StringIO(json.dumps(request))
    with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
        inspect_data.main()
    found: dict[str, Any] = json.loads(said.getvalue())
    return found


def main() -> None:
    source = Path(sys.argv[1]).read_text()
    sys.stdout.write(json.dumps({name: told(name, source) for name in sys.argv[2:]}) + "\n")


if __name__ == "__main__":
    main()
