"""Causes and fixes, from logs as TensorFlow and Python write them."""

from pathlib import Path

import pytest

from workbench.runs.failure import FIXES, OTHER_FIX, explain, log_tail

LOGS = {
    "ModuleNotFoundError: No module named 'tensorflow'": "/py -m pip install tensorflow",
    "ModuleNotFoundError: No module named 'my_models.wide'": "package that has my_models.wide",
    "tensorflow.python.framework.errors_impl.ResourceExhaustedError: {{function_node __wrapped__"
    "StatelessRandomUniformV2}} OOM when allocating tensor with shape[60000,60000]": "smaller",
    "OSError: [Errno 28] No space left on device": "Make room",
    "PermissionError: [Errno 13] Permission denied: '/data'": "right to use",
    "ValueError: Received incompatible tensor with shape (32,) when attempting to restore variable "
    "with shape (16,) and name model/bias": "another model",
    "tensorflow.python.framework.errors_impl.DataLossError: Unable to open table file": "damaged",
    "InvalidArgumentError: No OpKernel was registered to support Op 'NcclAllReduce'": "Hierarchi",
    "E0000 failed call to cuInit: CUDA_ERROR_NO_DEVICE: no device": "nvidia-smi",
    "urllib.error.URLError: <urlopen error timed out>": "network",
    "SyntaxError: invalid syntax": "Mend train.py",
    "ValueError: something else": OTHER_FIX,
}


@pytest.mark.parametrize("line", LOGS)
def test_known_errors_have_their_fix(line: str) -> None:
    log = f"Traceback (most recent call last):\n  File ...\n{line}\n"
    reason = explain(1, [], log, "/py")
    assert LOGS[line] in reason["fix"]
    assert reason["cause"] == f"{line} (exit status 1)"


def test_every_known_error_is_tried() -> None:
    assert len(LOGS) == len(FIXES) + 1


def test_the_cause_is_the_exception_not_what_is_logged_after_it() -> None:
    log = "ValueError: the reason\nW0000 something TensorFlow says at its end\n"
    assert explain(1, [], log, "py")["cause"] == "ValueError: the reason (exit status 1)"
    assert explain(1, [], "", "py")["cause"].startswith("The script wrote no reason")


def test_what_was_not_finite_is_named() -> None:
    event = {"event": "nonfinite", "step": 7, "replica": 1}
    assert "step 7 on replica 1" in explain(3, [event], "", "py")["cause"]
    assert explain(3, [{**event, "message": "NaN!"}], "", "py")["cause"] == "NaN!"


def test_the_tail_of_a_log_is_its_last_lines(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    assert log_tail(log, 5) == ""
    log.write_bytes(b"one\ntwo\r\n 1/9\r 9/9\n\xff\n\n")
    assert log_tail(log, 3) == "two\n 9/9\n\ufffd"
    assert log_tail(log, 3, since=4) == "two\n 9/9\n\ufffd"
    assert log_tail(log, 3, since=10) == " 9/9\n\ufffd"
    log.write_text("x" * 300 + "\n" + "line\n" * 100_000)
    assert log_tail(log, 1000).count("line") == 1000
