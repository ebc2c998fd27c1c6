"""A log of the processes that import TensorFlow; every Python of the tests loads this module."""

import os
import sys


class Counter:
    """A finder that finds nothing; it writes a line for a search of TensorFlow's own parts."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "tensorflow.python":  # a check for TensorFlow alone does not search this
            with open(os.environ["SUITE_TENSORFLOW_LOG"], "a") as log:  # noqa: PTH123
                log.write(f"{os.getpid()} {' '.join(sys.argv)[:200]!r}\n")


if "SUITE_TENSORFLOW_LOG" in os.environ:
    sys.meta_path.insert(0, Counter)
