"""The answers of an inspection: the facts, or one problem, with which the program ends.

The problem's words complete the sentence "data must be ...; got ...".
"""

import shlex
import socket
import sys
import traceback
import urllib.error
from typing import NoReturn

import tensorflow as tf

from ..asker import reply

RETURN = "return (x_train, y_train), (x_test, y_test)"
FILL = "Fill it."
FILL_TEST = "Fill it, or return None in its place."
ONE_SHAPE = "Pad, crop or resize all examples to one shape."
OF_NETWORK = (urllib.error.URLError, ConnectionError, TimeoutError, socket.gaierror)


def report(**result: object) -> NoReturn:
    """Print the result, and end."""
    reply(result)
    sys.exit(0)


def refuse(rule: str, got: str, fix: str) -> NoReturn:
    """Report the problem of the data, and end."""
    report(problem={"rule": rule, "got": got, "fix": fix})


def refuse_error(rule: str, error: Exception) -> NoReturn:
    """Report an error that the user's code raised, with its traceback, and end."""
    if isinstance(error, ModuleNotFoundError):
        rule = "code whose packages the run's interpreter has"
    message = " ".join(str(error).split())
    problem = {"rule": rule, "got": f"{type(error).__name__}: {message}", "fix": fix_of(error)}
    report(problem=problem, traceback="".join(traceback.format_exception(error)))


def fix_of(error: BaseException) -> str:
    """Return the fix of an error that the user's code raised."""
    if isinstance(error, ModuleNotFoundError):
        python = shlex.quote(sys.executable)
        return f"Run {python} -m pip install with its name, or choose another interpreter."
    if isinstance(error, tf.errors.NotFoundError):
        return "Fix the path; it is read from the folder in which the run is asked for."
    if "shape" in str(error) and ("batch" in str(error) or "yielded an element" in str(error)):
        return ONE_SHAPE
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OF_NETWORK) or type(cause).__module__.startswith("requests."):
            return (
                "Check the network (Kaggle has a switch for the Internet in its settings), or "
                "download the files in a cell and read them from the disk."
            )
        cause = cause.__cause__ or cause.__context__
    return "Fix this error in your code."
