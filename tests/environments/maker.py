"""Makes an environment with a stand-in, and waits at one step until it is killed.

It prints the number of this step, or an error, as a line of JSON.

Arguments: the interpreter; the folder of environments; the step at which it waits, 0 for none;
`small` if the build must need almost no free disk space at the start.
"""

import json
import signal
import sys
from dataclasses import replace
from pathlib import Path

from tests.environments import stand_ins
from workbench.environments import MakingError, Progress, make_environment


def main(interpreter: str, root: str, wait_at: str, *small: str) -> None:
    def on_progress(progress: Progress) -> None:
        if progress.number == int(wait_at):
            print(progress.number, flush=True)  # noqa: T201
            signal.pause()

    build = stand_ins.tpu_build()
    if small:
        build = replace(build, download_bytes=0, disk_bytes=0)
    try:
        make_environment(build, interpreter, Path(root), on_progress)
    except MakingError as error:
        print(json.dumps({"rule": error.rule, "got": error.got, "fix": error.fix}))  # noqa: T201


main(*sys.argv[1:])
