"""The cause of a trainer's end and its fix, from its exit status, its events and its log."""

from __future__ import annotations

import re
import shlex
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.runs.folder.events import Event
from workbench.runs.folder.files import FIRST_STEP
from workbench.runs.folder.logs import is_error_of_tensorflow, is_from_tensorflow
from workbench.runs.folder.tasks import NoAddressError
from workbench.runs.folder.unwritten import ROOM_FIX, is_full

if TYPE_CHECKING:
    from workbench.plan import Plan


class Diagnosis(NamedTuple):
    """A known reason for the end of a task, found in its log."""

    name: str
    pattern: str
    """Its named groups may stand in `why` and `fix`."""
    why: str
    fix: str


_OF_ANOTHER = (
    r"Collective ops is aborted|tasks are unhealthy|CoordinationService|Socket closed"
    r"|failed to connect to all addresses|Connection reset by peer"
)
OUT_OF_MEMORY = (
    r"ResourceExhaustedError|RESOURCE_EXHAUSTED|OOM when allocating|[Oo]ut of memory|OUT_OF_MEMORY"
    r"|MemoryError|bad_alloc|[Cc]annot allocate memory|[Ff]ailed to allocate|ALLOC_FAILED"
)
DIAGNOSES = (
    Diagnosis(
        "tensorflow-missing",
        r"No module named '(?:tensorflow|keras)'",
        "TensorFlow is not installed for the run's interpreter.",
        "Install it ({interpreter} -m pip install tensorflow), or choose another interpreter.",
    ),
    Diagnosis(
        "module-missing",
        r"No module named '(?P<module>[\w.]+)'",
        "The run's interpreter has no module {module}.",
        "Install the package that has {module} for {interpreter}, or correct its name.",
    ),
    Diagnosis(
        "no-tpu-support",
        r"No OpKernel was registered.*ConfigureDistributedTPU",
        "This TensorFlow was built without TPU support.",
        "Install tensorflow-tpu instead for the run's interpreter ({interpreter}), or choose "
        "another strategy.",
    ),
    Diagnosis(
        "libtpu-does-not-fit",
        r"init_fns\.inc.*not available in this library",
        "The TPU's driver library, libtpu, does not fit this TensorFlow.",
        "Make an environment in which both fit with `workbench environment --build tpu`, choose "
        "its interpreter, and resume the run.",
    ),
    Diagnosis(
        "tpu-in-use",
        r"No matching devices found for '/device:TPU_SYSTEM|The TPU is already in use"
        r"|libtpu multi-process lockfile",
        "TensorFlow could not take the TPU. Usually another process holds it.",
        "End that process; `workbench detect --interpreter {interpreter}` names it (a notebook's "
        "kernel that uses JAX must be restarted). Then resume the run.",
    ),
    Diagnosis(
        "no-tpu",
        r"Please provide a TPU Name",
        "No TPU was found.",
        "Start again on a machine that has one, name a Cloud TPU, or choose another strategy.",
    ),
    Diagnosis(
        "out-of-memory",
        OUT_OF_MEMORY,
        "The memory of a device or of the machine was used up.",
        "Make the batch or the model smaller, or end other programs that use this memory.",
    ),
    Diagnosis(
        "folder-not-shared",
        r"All hosts must share the folder of a run",
        "A host of this run does not see the run's folder.",
        "Share the folder of runs among all hosts, then resume the run.",
    ),
    Diagnosis(
        "disk-full",
        r"No space left on device|Disk quota exceeded",
        "The disk is full, or your quota is used up.",
        "Make room on the disk, then resume the run.",
    ),
    Diagnosis(
        "no-permission",
        r"Permission denied|Read-only file system",
        "The run may not use one of its files.",
        "Give yourself permission to use the file named in the log, or choose another folder.",
    ),
    Diagnosis(
        "checkpoint-of-another-model",
        r"not bound to checkpointed values"
        r"|incompatible tensor with shape|checkpoint.*(?:[Ss]hape|mismatch)|[Ss]hape.*checkpoint",
        "The checkpoint belongs to another model.",
        "Restore the script that wrote it, or start a new run.",
    ),
    Diagnosis(
        "damaged-file",
        r"DataLossError|Unable to open table file|truncated block read",
        "A file is damaged.",
        "Restore the file that the log names from a copy, then resume the run.",
    ),
    Diagnosis(
        "damaged-download",
        r"BadGzipFile|Compressed file ended before",
        "A packed file of the data is damaged.",
        "Delete the data's packed files, so that they are downloaded again: Keras keeps those of "
        "Fashion-MNIST in ~/.keras/datasets/fashion-mnist. Or replace those in the data folder "
        "that you named. Then resume the run.",
    ),
    Diagnosis(
        "too-few-files",
        r"Could not apply FILE based sharding",
        "The data have fewer files than there are workers, and each worker needs its own.",
        "Write the data to at least as many files as there are workers, or set Auto-sharding "
        "(auto_shard) to data or off.",
    ),
    Diagnosis(
        "nccl",
        r"[Nn]o NCCL|NcclAllReduce|NCCL error",
        "NCCL, which sums gradients between GPUs, failed or is missing in this TensorFlow.",
        "Choose HierarchicalCopy or ReductionToOneDevice as cross-device ops.",
    ),
    Diagnosis(
        "cuda",
        r"CUDA_ERROR|CUDNN_STATUS|libcu\w+\.so",
        "The GPU, its driver or a CUDA library failed.",
        "Check driver and GPU with nvidia-smi, then start again, or choose the CPU.",
    ),
    Diagnosis(
        "port-in-use",
        r"[Aa]ddress already in use|Could not start gRPC server",
        "Another process has taken a port of this run.",
        "Resume the run, which then takes free ports.",
    ),
    Diagnosis(
        "download-failed",
        r"URL fetch failure|URLError|[Nn]ame resolution|Name or service not known"
        r"|Network is unreachable|Max retries exceeded",
        "A download failed.",
        "Check the network (Kaggle has a switch for the Internet in its settings), or download the "
        "files in a cell and read them from the disk.",
    ),
    Diagnosis(
        "no-connection",
        r"Failed to connect|Connection refused|timed out",
        "A connection over the network failed.",
        "Check the network and resume.",
    ),
    Diagnosis(
        "label-without-output",
        r"Received a label value of",
        "A label has no output in the model.",
        "Number the classes from 0, and give the model's last layer one output for each class.",
    ),
    Diagnosis(
        "unequal-shapes",
        r"Cannot batch tensors with different shapes|Cannot add tensor to the batch",
        "The examples of a batch have different shapes.",
        "Pad, crop or resize all examples of the data to one shape.",
    ),
    Diagnosis(
        "another-task-ended",
        _OF_ANOTHER,
        "Another task of this run ended, or the connection to it broke.",
        "Read the log of the task that ended first, fix the error in it, then resume the run.",
    ),
    Diagnosis(
        "syntax-error",
        r"SyntaxError|IndentationError",
        "Python cannot read train.py.",
        "Fix it at the line named in the log, then resume.",
    ),
)
"""The first one whose pattern is found is taken."""
# TensorFlow logs these lines at each start on a machine without a GPU, whatever ends a task later.
_NO_GPU = re.compile(
    r"^.*(?:cuInit.*(?i:unknown|no_device|shared_object)|cudart_stub|cuda_diagnostics"
    r"|Could not load dynamic library|Cannot dlopen some GPU libraries).*$",
    re.MULTILINE,
)
NO_REPORT_FIX = (
    "Remove what ends train.py early, such as sys.exit(), or restore its last lines from the "
    "script of a new run."
)
_REFUSAL = re.compile(r"Needs (?P<rule>[^;]+); (?:got |received |found )?(?P<got>.+)\. (?P<fix>.+)")
"""A message with which a script ends itself."""
THEN_RESUME = "Then resume the run."
OTHER_FIX = "Read the end of the log, fix the error in it, then resume the run."
THEN_START = (
    "Then start a new run with the same settings: a resume runs the script with the code as it was."
)
OWN_FIX = f"Fix the error in your own code. {THEN_START}"
MOST_CHARACTERS = 500
"""The most characters of a log's line in a cause."""
NONFINITE_FIX = (
    "Lower the learning rate, clip the gradient, or look for broken examples (a missing number, or "
    "a label without an output in the model, which a GPU turns into NaN); then start a new run."
)
MEMORY_FIX = "Free memory or make batch, data or model smaller; then resume the run."

# A task logs one of these when another task has ended, or could not read data that both share.
_FOLLOWS_ANOTHER = re.compile(f"{_OF_ANOTHER}|End of sequence")
_WITHOUT_HEARTBEAT = re.compile(r"stopped sending heartbeats\):\s*((?:/job:\S+\s+)+)")
_TASK_NAME = re.compile(r"/job:(\w+)/(?:replica:\d+/)?task:(\d+)")
HEARTBEAT_FIX = (
    "Check its host, its process and the network between the hosts, then resume the run."
)
_IN_GRAPH = "Graph execution error:"
_NO_REASON = ("Detected at node", 'File "', "<stack traces", "[[")
_IN_LAYER = re.compile(r"^(?P<error>.*?): Exception encountered when calling (?P<layer>.+)\.$")
_EXCEPTION = re.compile(r"^(?:[\w.]+\.)?\w*(?:Error|Exception|Interrupt|Exit)\b(?::.*)?$")


def explain(
    exit_status: int, task_events: list[Event], log: str, interpreter: str
) -> dict[str, Any]:
    """Return `cause`, `fix`, and `signal` or `exit_status` of a trainer that failed."""
    if exit_status < 0:
        return _killed(-exit_status, log, interpreter)
    nonfinite = next((event for event in task_events if event["event"] == "nonfinite"), None)
    if nonfinite is not None:
        step = int(nonfinite.get("step") or 0) + FIRST_STEP
        message = nonfinite.get("message") or (
            f"The loss was not a finite number at step {step} "
            f"on replica {nonfinite.get('replica')}."
        )
        return {"cause": message, "fix": NONFINITE_FIX, "exit_status": exit_status}
    if exit_status == 0:
        cause = "The script ended without reporting that it finished or stopped."
        return {"cause": cause, "fix": NO_REPORT_FIX, "exit_status": 0}
    if tasks := without_heartbeat(log):
        return explain_silent(" and ".join(tasks), exit_status)
    line = _exception_line(log) or "The script wrote no reason to its log."
    why, fix = known_reason(log, interpreter)
    if (refusal := refusal_in(line)) is not None:
        why, line, fix = "", line.removesuffix(refusal.fix).rstrip(), refusal.fix
        fix += "" if re.search("resume|new run", fix, re.IGNORECASE) else f" {THEN_RESUME}"
    cause = f"{why} {line[:MOST_CHARACTERS]} (exit status {exit_status})".lstrip()
    return {"cause": cause, "fix": fix, "exit_status": exit_status}


class Refusal(NamedTuple):
    """The three parts of a message with which a script ends itself."""

    rule: str
    got: str
    fix: str


def refusal_in(line: str) -> Refusal | None:
    """Return the parts of a script's own message; None if the line is something else."""
    found = _REFUSAL.fullmatch(line)
    return Refusal(**found.groupdict()) if found else None


def with_own_fix(plan: Plan, ended: dict[str, Any]) -> dict[str, Any]:
    """Return the end of an attempt; its fix is a new run if the user's own code is to blame.

    A run keeps the text of such code, unless it was given as `module:function`.
    """
    own = any(function.source for function in plan.own_functions.values())
    fix = str(ended.get("fix", ""))
    if not own or "signal" in ended:
        return ended
    new = OWN_FIX if fix == OTHER_FIX else fix.replace(THEN_RESUME, THEN_START)
    return {**ended, "fix": new} if fix else ended


def explain_silent(who: str, exit_status: int) -> dict[str, Any]:
    """Return `cause`, `fix` and `exit_status` of a task that ended because of a silent task."""
    cause = f"TensorFlow received no heartbeat from {who} for too long (exit status {exit_status})."
    return {"cause": cause, "fix": HEARTBEAT_FIX, "exit_status": exit_status}


def follows_another(log: str) -> bool:
    """Return whether a task's log shows that the task ended because another one did."""
    return bool(_FOLLOWS_ANOTHER.search(_exception_line(log)))


def without_heartbeat(log: str) -> list[str]:
    """Return the tasks whose TensorFlow heartbeats have stopped, as a log reports."""
    found = _WITHOUT_HEARTBEAT.search(log)
    return [f"{kind}-{at}" for kind, at in _TASK_NAME.findall(found[1])] if found else []


def blame_disk(ended: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the end of an attempt, with a full disk as the cause if no other cause is known."""
    reported = ended.get("note") or (
        ended.get("fix") in (OTHER_FIX, NO_REPORT_FIX) and ended.get("cause")
    )
    if not reported or not is_full(folder):
        return ended
    text = f"The disk of {folder} is full. {reported}"
    if ended.get("note"):
        return {**ended, "note": text}
    return {**ended, "cause": text, "fix": f"{ROOM_FIX}, then resume the run."}


def cannot_start(error: OSError, interpreter: str) -> dict[str, Any]:
    """Return `cause` and `fix` if a task's process could not be started at all."""
    if isinstance(error, NoAddressError):
        cause = f"Not every task got a free port on this machine: {error.strerror}."
        return {
            "cause": cause,
            "fix": "End programs that hold ports or open files, then resume the run.",
        }
    why = error.strerror or error
    if str(error.filename) == interpreter:
        cause = f"The run's interpreter could not be started: {interpreter}: {why}."
        return {"cause": cause, "fix": "Choose an interpreter that exists and can be executed."}
    if error.filename is not None:
        cause = f"A task's process could not be started: {error.filename}: {why}."
        return {"cause": cause, "fix": "Fix that file or folder, then resume the run."}
    cause = f"A task's process could not be started: {why}."
    fix = "Make room for one more process, its memory and its temporary files, then resume the run."
    return {"cause": cause, "fix": fix}


def _killed(number: int, log: str, interpreter: str) -> dict[str, Any]:
    name = signal.Signals(number).name if number in signal.valid_signals() else str(number)
    if number == signal.SIGKILL:
        cause = "The trainer was killed (SIGKILL), often by the system when memory is short."
        return {"cause": cause, "fix": MEMORY_FIX, "signal": name}
    why, fix = known_reason(log, interpreter)
    line = _exception_line(log) if log else ""
    ended = f"The trainer was ended by the signal {name}."
    cause = " ".join(filter(None, (why, ended, line[:MOST_CHARACTERS])))
    return {"cause": cause, "fix": fix, "signal": name}


def known_reason(log: str, interpreter: str) -> tuple[str, str]:
    """Return why a task ended, and the fix: of its last exception, an earlier one or TensorFlow's.

    If the log has no exception, all of it is evidence. If nothing is known, the reason is empty.
    """
    lines = _lines(log)
    at = _last_exception(lines)
    evidence = [log]
    if at is not None:
        errors = [line for line in log.splitlines() if is_error_of_tensorflow(line)]
        evidence = ["\n".join(part) for part in (lines[at:], _exceptions(lines), errors)]
    for text in evidence:
        if found := diagnose(text):
            known, values = found
            values["interpreter"] = shlex.quote(interpreter)
            return known.why.format(**values), known.fix.format(**values)
    return "", OTHER_FIX


def diagnose(text: str) -> tuple[Diagnosis, dict[str, str]] | None:
    """Return the first diagnosis whose pattern is found in a text, and the values in it."""
    text = _NO_GPU.sub("", text)
    for known in DIAGNOSES:
        if found := re.search(known.pattern, text):
            return known, found.groupdict()
    return None


def _lines(log: str) -> list[str]:
    """Return the lines of a log that are not empty, without TensorFlow's own after an exception."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    at = _last_exception(lines)
    if at is None:
        return lines
    return lines[:at] + [line for line in lines[at:] if not is_from_tensorflow(line)]


def _last_exception(lines: list[str]) -> int | None:
    found = [at for at, line in enumerate(lines) if _EXCEPTION.match(line)]
    return found[-1] if found else None


def _exceptions(lines: list[str]) -> list[str]:
    return [line for line in lines if _EXCEPTION.match(line)]


def _exception_line(log: str) -> str:
    """Return the last exception with its reason, or the last line; empty if there is no line."""
    lines = _lines(log)
    at = _last_exception(lines)
    if at is None:
        return lines[-1] if lines else ""
    line, rest = lines[at], lines[at + 1 :]
    if line.endswith(_IN_GRAPH):
        line = f"{line} {_reason_in_graph(rest)}".strip()
    elif (layer := _IN_LAYER.match(line)) and rest:
        line = f"{layer['error']}: {rest[0]} (raised in {layer['layer']})"
    return line


def _reason_in_graph(lines: list[str]) -> str:
    """Return the reason that TensorFlow gives below the frames of an error in a graph."""
    return next((line for line in lines if not line.startswith(_NO_REASON)), "")
