"""The properties that a forked process takes over from its server and cannot change.

A server is used only if all of them are equal.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import resource
import socket
import sys
from collections.abc import Mapping
from pathlib import Path

READ_AT_IMPORT = (
    # The interpreter and the system's loader and allocator.
    *("PYTHON", "LD_", "MALLOC_", "GLIBC_", "LANG", "LC_", "TZ", "HOME", "CONDA_", "VIRTUAL_ENV"),
    *("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"),
    # TensorFlow, Keras and what they import: XLA, oneDNN, OpenMP, BLAS, HDF5, protobuf, matplotlib.
    *("TF_", "KERAS", "XLA_", "ONEDNN_", "DNNL_", "OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_"),
    *("NPY_", "NUMEXPR_", "HDF5_", "PROTOCOL_BUFFERS_", "ABSL_", "GRPC_", "MPL"),
    # Devices.
    *("CUDA_", "NVIDIA_", "NCCL_", "ROCM_", "ROCR_", "HIP_", "HSA_", "TPU_", "LIBTPU", "JAX_"),
)
"""The first letters of environment variables that may be read while TensorFlow is imported."""
READ_LATER = (
    *("TF_CONFIG", "TF_GRPC_REUSE_PORT", "TF_NUM_INTRAOP_THREADS"),
    *("PYTHONSAFEPATH", "PYTHONDONTWRITEBYTECODE"),
)
"""The variables among them that are read, or can be applied, after a fork."""
NAMESPACES = ("mnt", "pid", "net", "ipc", "user", "uts", "cgroup")
LIMITS = tuple(sorted(name for name in dir(resource) if name.startswith("RLIMIT_")))
PROGRAM = Path(__file__).parent / "program"


def name_of(parts: list[str], environment: Mapping[str, str]) -> str:
    """Return a name that identifies `parts` and all properties inherited from this place."""
    inherited = [*parts, sorted(read_at_import(environment).items()), program(), *place()]
    return hashlib.sha256(json.dumps(inherited).encode()).hexdigest()[:16]


def read_at_import(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of an environment that may affect an import of TensorFlow."""
    return {
        name: value
        for name, value in environment.items()
        if name.startswith(READ_AT_IMPORT) and name not in READ_LATER
    }


@functools.cache
def program() -> str:
    """Return a hash of the server's own text, because another release has another protocol."""
    texts = b"".join(path.read_bytes() for path in sorted(PROGRAM.glob("*.py")))
    return hashlib.sha256(texts).hexdigest()


def soft_limits() -> dict[str, int]:
    """Return this process's soft limits, which a forked process takes on."""
    return {name: resource.getrlimit(getattr(resource, name))[0] for name in LIMITS}


def place() -> list[object]:
    """Return where this process runs and what it may use: a fork runs where its server runs.

    Empty on systems that fork nothing: see `fork_server.never`.
    """
    if sys.platform != "linux":
        return []
    spaces = []
    for name in NAMESPACES:
        with contextlib.suppress(OSError):
            spaces.append(str(Path(f"/proc/self/ns/{name}").readlink()))
    with contextlib.suppress(OSError):
        spaces.append(Path("/proc/self/cgroup").read_text(encoding="utf-8"))
    hard_limits = [resource.getrlimit(getattr(resource, name))[1] for name in LIMITS]
    ids = (os.getresuid(), os.getresgid(), sorted(os.getgroups()))
    cores = sorted(os.sched_getaffinity(0))
    return [socket.gethostname(), spaces, hard_limits, ids, cores, os.nice(0)]
