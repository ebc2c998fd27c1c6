"""A script that reports this interpreter's TensorFlow and devices, as a line of JSON with a mark.

The training interpreter runs it. The script uses only the standard library of Python 3.8 or later,
so the package need not be installed there. It lists devices and never initialises them. The report
goes to standard output. TensorFlow and start-up code of the environment may write there too, so
the mark identifies the line of the report.

Arguments: `metadata`, `import` or `import-unless-tpu`; the number of seconds after which the script
ends itself, in case the process that started it has ended by then; the mark.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import signal
import sys
import sysconfig
from pathlib import Path
from typing import Any

TENSORFLOW_DISTRIBUTIONS = (
    "tensorflow",
    "tensorflow-cpu",
    "tensorflow-tpu",
    "tensorflow-macos",
    "tensorflow-intel",
    "tensorflow-cpu-aws",
    "tensorflow-rocm",
    "intel-tensorflow",
    "tf-nightly",
    "tf-nightly-cpu",
    "tf-nightly-tpu",
)


def main() -> None:
    """Write the report and end immediately, without the exit handlers of libraries."""
    mode, limit_seconds, mark = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    signal.alarm(limit_seconds)
    here = Path(__file__).resolve().parent
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != here]
    report = {**metadata(), "imported": None, "import_error": None}
    tpu_build = any(name.endswith("-tpu") for name in report["distributions"])
    if mode == "import" or (mode == "import-unless-tpu" and not tpu_build):
        try:
            report["imported"] = imported() if report["tensorflow_found"] else None
        except Exception as error:
            report["import_error"] = f"{type(error).__name__}: {_last_line(str(error))}"
    print(f"\n{mark}{json.dumps(report)}", flush=True)  # noqa: T201
    os._exit(0)


def metadata() -> dict[str, Any]:
    """Return the installed versions, without importing any large package."""
    spec = importlib.util.find_spec("tensorflow")
    marker = Path(sysconfig.get_path("stdlib")) / "EXTERNALLY-MANAGED"
    return {
        "python_version": platform.python_version(),
        "distributions": {
            name: version
            for name in TENSORFLOW_DISTRIBUTIONS
            if (version := _version(name)) is not None
        },
        "tensorflow_found": spec is not None and spec.origin is not None,
        "keras": _version("keras"),
        "tf_keras": _version("tf-keras"),
        "libtpu": _version("libtpu"),
        "pip": importlib.util.find_spec("pip") is not None,
        "externally_managed": sys.prefix == sys.base_prefix and marker.exists(),
    }


def imported() -> dict[str, Any]:
    """Import TensorFlow, and return facts about it and about the GPUs that it lists."""
    tensorflow = importlib.import_module("tensorflow")
    details = [
        tensorflow.config.experimental.get_device_details(gpu)
        for gpu in tensorflow.config.list_physical_devices("GPU")
    ]
    return {
        "version": tensorflow.__version__,
        "cuda_build": bool(tensorflow.test.is_built_with_cuda()),
        "cuda_version": tensorflow.sysconfig.get_build_info().get("cuda_version"),
        "tpu_build": _has_tpu_kernels(),
        "tpu_system": bool(tensorflow.config.list_physical_devices("TPU_SYSTEM")),
        "gpus": [
            {
                "model": found.get("device_name"),
                "compute_capability": ".".join(map(str, found.get("compute_capability") or ()))
                or None,
            }
            for found in details
        ],
    }


def _has_tpu_kernels() -> bool | None:
    """Return whether TensorFlow can set up a TPU; None if this release cannot report it.

    TPU builds rewrite the graph to the operation whose name starts with an underscore, because
    only this operation has a kernel.
    """
    try:
        kernels = importlib.import_module("tensorflow.python.framework.kernels")
        return bool(kernels.get_registered_kernels_for_op("_ConfigureDistributedTPU").kernel)
    except (ImportError, AttributeError):
        return None


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "no message"


if __name__ == "__main__":
    main()
