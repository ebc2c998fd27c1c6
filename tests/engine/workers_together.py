"""Train the lessons of several workers in this process, one of them: `workers_together.py DIR...`.

TF_CONFIG names the worker. TensorFlow allows one strategy of several workers per process, so all
scripts share the first one. In a folder given as DIR:often, the first worker wishes to save after
each call.
"""

import os
import sys
import threading
from pathlib import Path
from typing import Any

from tests.engine.together import load
from workbench.observe.folder.events import task_of
from workbench.observe.process import keep_freed_memory
from workbench.observe.watch import Watch


def main() -> None:
    task, strategy = task_of(os.environ["TF_CONFIG"]), None
    for argument in sys.argv[1:]:
        path, _, often = argument.partition(":")
        folder = Path(path)
        script: Any = load(folder / "train.py")
        strategy = strategy or script.make_strategy()
        script.make_strategy = lambda made=strategy: made
        save_seconds = 0.0 if often and task == "worker-0" else None
        (folder / task).mkdir(exist_ok=True)
        stop = threading.Event()
        tf_config = os.environ["TF_CONFIG"]
        with Watch(folder, task, stop, tf_config, save_seconds=save_seconds) as observer:
            script.main(str(folder))
            observer.finish()


if __name__ == "__main__":
    keep_freed_memory()
    main()
    os._exit(0)  # closing the pipelines can take a minute
