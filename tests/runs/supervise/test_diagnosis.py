"""Causes and fixes from logs of TensorFlow and Python."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.machines import LAPTOP
from workbench.config import RunConfig
from workbench.plan import make_plan
from workbench.plan.plan import OwnFunction
from workbench.runs.folder.logs import log_tail
from workbench.runs.supervise.diagnosis import (
    DIAGNOSES,
    MEMORY_FIX,
    OTHER_FIX,
    OWN_FIX,
    THEN_START,
    explain,
    refusal_in,
    with_own_fix,
)

USUAL_PLAN = make_plan(RunConfig(), LAPTOP)


LOGS = {
    "ModuleNotFoundError: No module named 'tensorflow'": "/py -m pip install tensorflow",
    "ModuleNotFoundError: No module named 'my_models.wide'": "my_models.wide for /py",
    "tensorflow.python.framework.errors_impl.ResourceExhaustedError: {{function_node __wrapped__"
    "StatelessRandomUniformV2}} OOM when allocating tensor with shape[60000,60000]": "smaller",
    "RuntimeError: 1: All hosts must share the folder of a run; n2 has no /runs/1/jobs/0001.": (
        "Share the folder of runs"
    ),
    "OSError: [Errno 28] No space left on device": "Make room",
    "OSError: All hosts must share the folder of a run; n2: [Errno 2]": "Share the folder of runs",
    "PermissionError: [Errno 13] Permission denied: '/data'": "permission to use",
    "ValueError: Received incompatible tensor with shape (32,) when attempting to restore variable "
    "with shape (16,) and name model/bias": "Restore the script",
    "AssertionError: Found 2 Python objects that were not bound to checkpointed values": (
        "Restore the script"
    ),
    "gzip.BadGzipFile: Not a gzipped file (b'<h')": "Delete the data's packed files",
    "tensorflow.python.framework.errors_impl.DataLossError: Unable to open table file": (
        "from a copy"
    ),
    "InvalidArgumentError: Could not apply FILE based sharding: the dataset only has 1 file(s)": (
        "as many files"
    ),
    "InvalidArgumentError: No OpKernel was registered to support Op 'NcclAllReduce'": "Hierarchi",
    "E0000 failed call to cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: versions": "nvidia-smi",
    "NotFoundError: No OpKernel was registered to support Op 'ConfigureDistributedTPU'": (
        "Install tensorflow-tpu instead for the run's interpreter (/py)"
    ),
    "F external/local_xla/xla/stream_executor/tpu/tpu_library_init_fns.inc:12] "
    "ConfigureDistributedTpuOp_DoWork not available in this library.": "--build tpu",
    "NotFoundError: TPUs not found in the cluster. Failed in initialization: No matching devices "
    "found for '/device:TPU_SYSTEM:0' [Op:__inference__tpu_init_fn_4]": "detect --interpreter /py",
    "ValueError: Please provide a TPU Name to connect to.": "name a Cloud TPU",
    "RuntimeError: Could not start gRPC server": "free ports",
    "ConnectionRefusedError: [Errno 111] Connection refused": "Check the network and resume.",
    "urllib.error.URLError: <urlopen error timed out>": "read them from the disk",
    "Exception: URL fetch failure on https://example.org/mnist.npz: None -- [Errno -3] Temporary "
    "failure in name resolution": "read them from the disk",
    "InvalidArgumentError: Received a label value of 10 which is outside the valid range of "
    "[0, 10).": "Number the classes from 0",
    "InvalidArgumentError: Cannot batch tensors with different shapes in component 0.": "Pad, crop",
    "UnavailableError: Collective ops is aborted by: Socket closed": "task that ended first",
    "SyntaxError: invalid syntax": "at the line named in the log",
    "ValueError: something else": OTHER_FIX,
}


@pytest.mark.parametrize("line", LOGS)
def test_known_errors_have_their_fix(line: str) -> None:
    log = f"Traceback (most recent call last):\n  File ...\n{line}\n"
    reason = explain(1, [], log, "/py")
    why = "" if LOGS[line] == OTHER_FIX else r"[A-Z].+\. "
    assert LOGS[line] in reason["fix"]
    assert re.fullmatch(rf"{why}{re.escape(line)} \(exit status 1\)", reason["cause"])


def test_every_known_error_is_tested() -> None:
    assert len(set(LOGS.values())) == len(DIAGNOSES) + 1


def test_the_cause_is_the_exception_and_not_a_later_line() -> None:
    log = "ValueError: the reason\nW0000 something TensorFlow says at its end\n"
    assert explain(1, [], log, "py")["cause"] == "ValueError: the reason (exit status 1)"
    assert explain(1, [], "", "py")["cause"].startswith("The script wrote no reason")


@pytest.mark.parametrize("code", ["UNKNOWN ERROR (303)", "CUDA_ERROR_NO_DEVICE: no device"])
def test_a_missing_gpu_is_not_mistaken_for_a_broken_driver(code: str) -> None:
    log = f"E0000 cuda_platform.cc:52] failed call to cuInit: INTERNAL: CUDA error: {code}\n"
    assert explain(1, [], f"{log}ValueError: something else\n", "py")["fix"] == OTHER_FIX


@pytest.mark.parametrize("noise", ["CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "Connection refused"])
def test_the_last_exception_decides_and_not_what_tensorflow_reported_before(noise: str) -> None:
    log = f"E0000 00:00:1.0 1 cuda_platform.cc:52] failed call to cuInit: {noise}\n"
    error = f"{log}Traceback (most recent call last):\n  File ...\nValueError: of the model\n"
    assert explain(1, [], error, "py")["fix"] == OTHER_FIX
    assert explain(1, [], log, "py")["fix"] != OTHER_FIX


def test_an_exception_before_the_last_one_gives_the_fix_if_the_last_has_none() -> None:
    log = "ResourceExhaustedError: OOM when allocating tensor\nRuntimeError: in the loop\n"
    reason = explain(1, [], log, "py")
    assert reason["cause"] == (
        "The memory of a device or of the machine was used up. RuntimeError: in the loop "
        "(exit status 1)"
    )
    assert "smaller" in reason["fix"]


def test_the_reason_that_keras_gives_below_its_layer_comes_first() -> None:
    log = (
        "ValueError: Exception encountered when calling Reshape.call().\n\n"
        "The total size of the tensor must be unchanged. Received: input_shape=(784,)\n\n"
        "Arguments received by Reshape.call():\n  • inputs=tf.Tensor(shape=(16, 784))\n"
        "W0000 00:00:1.0 1 something.cc:1] that TensorFlow reports at its end\n"
    )
    cause = (
        "ValueError: The total size of the tensor must be unchanged. Received: input_shape=(784,) "
        "(raised in Reshape.call()) (exit status 1)"
    )
    assert explain(1, [], log, "py")["cause"] == cause


@pytest.mark.parametrize("name", ["own_model", "own_data", "own_step"])
def test_an_error_in_the_users_own_code_is_not_fixed_by_a_resume(name: str) -> None:
    lifted = replace(USUAL_PLAN, **{name: OwnFunction("build", None, "def build(): ...")})
    ended = {"state": "failed", "fix": OTHER_FIX}
    assert with_own_fix(lifted, ended)["fix"] == OWN_FIX
    assert "new run with the same settings" in OWN_FIX
    imported = replace(USUAL_PLAN, **{name: OwnFunction("build", "models", None)})
    for plan in (USUAL_PLAN, imported):
        assert with_own_fix(plan, ended) == ended
    for other in ({**ended, "signal": "SIGTERM"}, {**ended, "fix": MEMORY_FIX}, {"state": "x"}):
        assert with_own_fix(lifted, other) == other


def test_a_scripts_own_message_has_its_own_fix() -> None:
    line = "Needs train.gz; the download fails: URL fetch failure. Connect the machine."
    reason = explain(1, [], f"{line}\n", "py")
    assert reason["cause"] == (
        "Needs train.gz; the download fails: URL fetch failure. (exit status 1)"
    )
    assert reason["fix"] == "Connect the machine. Then resume the run."
    lifted = replace(USUAL_PLAN, own_data=OwnFunction("load", None, "def load(): ..."))
    started = with_own_fix(lifted, {"state": "failed", **reason})["fix"]
    assert started == f"Connect the machine. {THEN_START}"
    kept = explain(1, [], "Needs a port; it is taken. Free it, and resume the run.", "py")["fix"]
    assert kept == "Free it, and resume the run."


@pytest.mark.parametrize("verb", ["", "got ", "received ", "found "])
def test_the_parts_of_a_scripts_own_message(verb: str) -> None:
    parts = refusal_in(f"Needs a model; {verb}a list. It has 1.5 items. Return the model.")
    assert parts == ("a model", "a list. It has 1.5 items", "Return the model.")
    assert refusal_in("ValueError: Needs a model") is None


def test_tensorflows_report_of_a_lack_of_memory_is_evidence_if_no_exception_tells_more() -> None:
    memory = "W0000 00:00:1.0 1 bfc_allocator.cc:501] Allocator (GPU_0_bfc) ran out of memory"
    reason = explain(1, [], f"{memory}\nInternalError: Dst tensor is not initialized.\n", "py")
    assert "smaller" in reason["fix"]


def test_the_reason_of_an_error_in_a_graph_is_in_the_cause() -> None:
    log = (
        "OutOfRangeError: Graph execution error:\n\nDetected at node next defined at (most recent "
        'call last):\n  File "train.py", line 601, in <module>\n\n<stack traces unavailable>\n'
        "End of sequence\n\t [[{{node next}}]] [Op:__inference_run_663]\n"
    )
    cause = "OutOfRangeError: Graph execution error: End of sequence (exit status 1)"
    assert explain(1, [], log, "py")["cause"] == cause


def test_a_task_without_heartbeats_is_named() -> None:
    log = (
        "UnavailableError: Graph execution error:\n\nCollective ops is aborted by: Error reported "
        "from /job:worker/task:1: The following tasks are unhealthy (stopped sending heartbeats):\n"
        "/job:worker/replica:0/task:1\nThe tasks have crashed. Check the task logs"
    )
    failure = explain(1, [], log, "/py")
    assert "no heartbeat from worker-1" in failure["cause"]
    assert "the network between the hosts" in failure["fix"]


@pytest.mark.parametrize(
    "usual",
    [
        "E0000 00:00:1.0 1 cuda_platform.cc:52] failed call to cuInit: INTERNAL: CUDA error: "
        "Failed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error (303)",
        "W0000 00:00:1.0 1 dso_loader.cc:64] Could not load dynamic library 'libcudart.so.12'",
        "W0000 00:00:1.0 1 gpu_device.cc:2433] Cannot dlopen some GPU libraries: libcublas.so.12",
    ],
)
def test_lines_of_every_start_without_a_gpu_are_not_evidence(usual: str) -> None:
    assert explain(1, [], f"{usual}\nValueError: of the model", "py")["fix"] == OTHER_FIX
    fix = explain(1, [], f"{usual}\nInternalError: CUDA_ERROR_LAUNCH_FAILED", "py")["fix"]
    assert fix.startswith("Check driver and GPU")


def test_the_step_of_a_nonfinite_loss_is_named() -> None:
    event = {"event": "nonfinite", "step": 7, "replica": 1}
    assert "step 8 on replica 1" in explain(3, [event], "", "py")["cause"]
    assert explain(3, [{**event, "message": "NaN!"}], "", "py")["cause"] == "NaN!"


def test_the_cause_is_found_in_a_coloured_log(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_text("Traceback\n\x1b[31mValueError\x1b[0m: the reason\n")
    cause = explain(1, [], log_tail(log, 30), "py")["cause"]
    assert cause == "ValueError: the reason (exit status 1)"
