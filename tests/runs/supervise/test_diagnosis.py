"""Causes and fixes, from logs as TensorFlow and Python write them."""

from pathlib import Path

import pytest

from workbench.runs.supervise.diagnosis import FIXES, LINE_CHARACTERS, OTHER_FIX, explain, log_tail

LOGS = {
    "ModuleNotFoundError: No module named 'tensorflow'": "/py -m pip install tensorflow",
    "ModuleNotFoundError: No module named 'my_models.wide'": "package that has my_models.wide",
    "tensorflow.python.framework.errors_impl.ResourceExhaustedError: {{function_node __wrapped__"
    "StatelessRandomUniformV2}} OOM when allocating tensor with shape[60000,60000]": "smaller",
    "OSError: [Errno 28] No space left on device": "Make room",
    "PermissionError: [Errno 13] Permission denied: '/data'": "right to use",
    "ValueError: Received incompatible tensor with shape (32,) when attempting to restore variable "
    "with shape (16,) and name model/bias": "another model",
    "AssertionError: Found 2 Python objects that were not bound to checkpointed values": (
        "another model"
    ),
    "tensorflow.python.framework.errors_impl.DataLossError: Unable to open table file": "damaged",
    "InvalidArgumentError: Could not apply FILE based sharding: the dataset only has 1 file(s)": (
        "as many files"
    ),
    "InvalidArgumentError: No OpKernel was registered to support Op 'NcclAllReduce'": "Hierarchi",
    "E0000 failed call to cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: versions": "nvidia-smi",
    "NotFoundError: No OpKernel was registered to support Op 'ConfigureDistributedTPU'": (
        "install tensorflow-tpu in its place for the run's interpreter (/py)"
    ),
    "F external/local_xla/xla/stream_executor/tpu/tpu_library_init_fns.inc:12] "
    "ConfigureDistributedTpuOp_DoWork not available in this library.": "--build tpu",
    "NotFoundError: TPUs not found in the cluster. Failed in initialization: No matching devices "
    "found for '/device:TPU_SYSTEM:0' [Op:__inference__tpu_init_fn_4]": "detect --interpreter /py",
    "ValueError: Please provide a TPU Name to connect to.": "No TPU was found",
    "RuntimeError: Could not start gRPC server": "free ones",
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
    assert len(set(LOGS.values())) == len(FIXES) + 1


def test_the_cause_is_the_exception_not_what_is_logged_after_it() -> None:
    log = "ValueError: the reason\nW0000 something TensorFlow says at its end\n"
    assert explain(1, [], log, "py")["cause"] == "ValueError: the reason (exit status 1)"
    assert explain(1, [], "", "py")["cause"].startswith("The script wrote no reason")


@pytest.mark.parametrize("code", ["UNKNOWN ERROR (303)", "CUDA_ERROR_NO_DEVICE: no device"])
def test_a_machine_without_a_gpu_is_not_taken_for_a_broken_driver(code: str) -> None:
    log = f"E0000 cuda_platform.cc:52] failed call to cuInit: INTERNAL: CUDA error: {code}\n"
    assert explain(1, [], f"{log}ValueError: something else\n", "py")["fix"] == OTHER_FIX


def test_of_an_error_in_a_graph_the_reason_below_its_frames_is_told() -> None:
    log = (
        "OutOfRangeError: Graph execution error:\n\nDetected at node next defined at (most recent "
        'call last):\n  File "train.py", line 601, in <module>\n\n<stack traces unavailable>\n'
        "End of sequence\n\t [[{{node next}}]] [Op:__inference_run_663]\n"
    )
    told = "OutOfRangeError: Graph execution error: End of sequence (exit status 1)"
    assert explain(1, [], log, "py")["cause"] == told


def test_the_task_that_tensorflow_hears_no_more_is_named() -> None:
    log = (
        "UnavailableError: Graph execution error:\n\nCollective ops is aborted by: Error reported "
        "from /job:worker/task:1: The following tasks are unhealthy (stopped sending heartbeats):\n"
        "/job:worker/replica:0/task:1\nThe tasks have crashed. Check the task logs"
    )
    told = explain(1, [], log, "/py")
    assert "no heartbeat of worker-1" in told["cause"]
    assert "the network between the hosts" in told["fix"]


@pytest.mark.parametrize(
    "usual",
    [
        "E0000 00:00:1.0 1 cuda_platform.cc:52] failed call to cuInit: INTERNAL: CUDA error: "
        "Failed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error (303)",
        "W0000 00:00:1.0 1 dso_loader.cc:64] Could not load dynamic library 'libcudart.so.12'",
        "W0000 00:00:1.0 1 gpu_device.cc:2433] Cannot dlopen some GPU libraries: libcublas.so.12",
    ],
)
def test_what_every_start_without_a_gpu_tells_is_no_evidence(usual: str) -> None:
    assert explain(1, [], f"{usual}\nValueError: of the model", "py")["fix"] == OTHER_FIX
    told = explain(1, [], f"{usual}\nInternalError: CUDA_ERROR_LAUNCH_FAILED", "py")["fix"]
    assert told.startswith("Check driver and GPU")


def test_what_was_not_finite_is_named() -> None:
    event = {"event": "nonfinite", "step": 7, "replica": 1}
    assert "step 7 on replica 1" in explain(3, [event], "", "py")["cause"]
    assert explain(3, [{**event, "message": "NaN!"}], "", "py")["cause"] == "NaN!"


def test_the_signal_that_ends_a_task_whose_work_is_over_is_not_its_last_word(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log.txt"
    notice = "W0000 00:00:1.0 1 preemption_notifier.cc:90] SIGTERM caught at 2026-11-22T09:10:12\n"
    log.write_text(f"{notice}finished step=600\n{notice}\n")
    assert log_tail(log, 5) == f"{notice}finished step=600"


def test_the_tail_of_a_log_is_its_last_lines(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    assert log_tail(log, 5) == ""
    log.write_bytes(b"one\ntwo\r\n 1/9\r 9/9\n\xff\n\n")
    assert log_tail(log, 3) == "two\n 9/9\n\ufffd"
    assert log_tail(log, 3, since=4) == "two\n 9/9\n\ufffd"
    assert log_tail(log, 3, since=10) == " 9/9\n\ufffd"
    log.write_text("x" * 300 + "\n" + "line\n" * 100_000)
    assert log_tail(log, 1000).count("line") == 1000


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (b"\x1b[1;31mred\x1b[0m and \x1b[38;2;1;2;3mtrue\x1b[m", "red and true"),
        (b"\x1b[2K\x1b[1Aup\x1b[?25l\x1b[10;20H", "up"),
        (b"\x1b]0;a title\x07text", "text"),
        (b"\x1b]8;;https://example.org\x1b\\a link\x1b]8;;\x1b\\", "a link"),
        (b"\x1bPsome device string\x1b\\text \x1b(B\x1b7\x1b=", "text "),
        (b"kept\x1b]0;a title that never ends", "kept"),
        (b"kept\x1b[31", "kept"),
        (b"kept\x1b", "kept"),
        (b"a\x00b\x07c\x08d\x0be\x0cf\x1fg\x7fh", "abcdefgh"),
        ("a\x85b\x9bc".encode(), "abc"),
        ("\tindented, \u00e4\u2192\U0001f642".encode(), "\tindented, \u00e4\u2192\U0001f642"),
        (b"<b>&amp;</b>", "<b>&amp;</b>"),
    ],
)
def test_the_tail_is_plain_text(written: bytes, shown: str, tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_bytes(b"before\n" + written + b"\nafter\n")
    assert log_tail(log, 5) == f"before\n{shown}\nafter"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (b"10%\r50%\r100%", "100%"),
        (b"10%\r50%\r", "50%"),
        (b"\x08\x08\x08\r10%\x1b[K\r\x1b[1m 50%\x1b[0m\x1b[K\r\r", " 50%"),
        (b"100%\r    \rdone\r\r", "done"),
        (b"windows\r\r", "windows"),
    ],
)
def test_of_a_line_that_was_rewritten_the_last_state_is_kept(
    written: bytes, shown: str, tmp_path: Path
) -> None:
    log = tmp_path / "log.txt"
    log.write_bytes(b"before\n" + written)
    assert log_tail(log, 5) == f"before\n{shown}"
    log.write_bytes(b"before\n" + written + b"\nafter")
    assert log_tail(log, 5) == f"before\n{shown}\nafter"


def test_a_bar_rewritten_for_hours_is_one_short_line(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_bytes(b"".join(b"\r%7d/1000000 [====>....]" % step for step in range(100_000)))
    assert log_tail(log, 50) == "  99999/1000000 [====>....]"


@pytest.mark.parametrize("noise", [b"\r", b"\x1b]", b"\x1b[0;", b"\x1b ", b"\x00"])
def test_noise_alone_is_read(noise: bytes, tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_bytes(b"before\n" + noise * 15_000)
    assert log_tail(log, 50) == "before"


def test_of_a_long_line_the_middle_is_left_out_and_counted(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_text(f"{'a' * LINE_CHARACTERS}\nbegin{'-' * 10_000}end\n")
    whole, cut = log_tail(log, 5).split("\n")
    assert whole == "a" * LINE_CHARACTERS
    assert cut.startswith("begin---")
    assert "- [8,008 characters left out] -" in cut
    assert cut.endswith("---end")
    assert len(cut) < LINE_CHARACTERS + 50


def test_a_line_of_a_megabyte_shows_its_end_and_that_more_was_there(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_text("x" * 2**20 + "the end")
    tail = log_tail(log, 50)
    assert tail.startswith("[the line's beginning is left out] xxx")
    assert tail.endswith("xxx" + "the end")
    assert len(tail) < LINE_CHARACTERS + 50
    log.write_text("x" * 2**20 + "\n" + "y" * 30_000 + "\n" + "the end\n")
    assert log_tail(log, 2).startswith("yyy")


def test_lines_that_the_reading_does_not_cut_are_not_called_cut(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    lines = ["z" * (2**12 - 1)] * 20
    log.write_text("\n".join(lines) + "\n")
    shown = log_tail(log, 50).split("\n")
    assert set(shown[-16:]) == {f"{'z' * 1000} [2,095 characters left out] {'z' * 1000}"}
    assert not any("beginning" in line for line in shown)


def test_the_cause_of_a_failure_is_found_in_colours_too(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_text("Traceback\n\x1b[31mValueError\x1b[0m: the reason\n")
    cause = explain(1, [], log_tail(log, 30), "py")["cause"]
    assert cause == "ValueError: the reason (exit status 1)"
