"""Found by every Python that the tests start: notes which processes import TensorFlow."""

import os
import sys


class Counter:
    """A finder that finds nothing; it writes a line when TensorFlow's own parts are looked for."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "tensorflow.python":  # whoever only asks whether there is TensorFlow stops short
            with open(os.environ["SUITE_TENSORFLOW_LOG"], "a") as log:  # noqa: PTH123
                log.write(f"{os.getpid()} {' '.join(sys.argv)[:200]!r}\n")


if "SUITE_TENSORFLOW_LOG" in os.environ:
    sys.meta_path.insert(0, Counter)
