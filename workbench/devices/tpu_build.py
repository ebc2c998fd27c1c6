"""The TensorFlow build that runs on TPUs, and the libtpu that fits it.

`tensorflow-tpu` is the build for TPU VMs (colabtools#5228). It requires libtpu 0.0.14 or later and
sets no upper bound, so an installer takes the newest libtpu. That libtpu lacks functions that this
TensorFlow calls, so the import of TensorFlow ends the process. In tests, TensorFlow loaded libtpu
0.0.17, 0.0.21.1, 0.0.24 and 0.0.29, but not 0.0.34 and 0.0.52. Colab's TPU runtime has libtpu
0.0.21.1.
"""

from __future__ import annotations

import re

TENSORFLOW_VERSION = "2.20.0"
LIBTPU_VERSION = "0.0.21.1"
REQUIREMENTS = (f"tensorflow-tpu=={TENSORFLOW_VERSION}", f"libtpu=={LIBTPU_VERSION}")
_ENDS_THE_IMPORT_FROM = (0, 0, 34)


def misfit(tensorflow_tpu: str, libtpu: str | None) -> str | None:
    """Return the problem of the libtpu installed with a TPU build; None if no problem is known."""
    if libtpu is None:
        return "libtpu, which TensorFlow needs to use the TPU, is not installed"
    numbers = tuple(int(part) for part in re.findall(r"\d+", libtpu))
    if tensorflow_tpu == TENSORFLOW_VERSION and numbers >= _ENDS_THE_IMPORT_FROM:
        lacks = f"libtpu {libtpu} lacks functions that TensorFlow calls"
        return f"{lacks}, so the import of TensorFlow ends the process"
    return None


WITHOUT_TPU = {"TPU_LIBRARY_PATH": "/no-tpu-is-taken"}
"""Environment variables with which a TPU build is imported without libtpu.

libtpu would take the TPU.
"""
