"""The TensorFlow that runs on TPUs, and the libtpu that fits it.

`tensorflow-tpu` is the build for TPU VMs (colabtools#5228). It asks for a libtpu from 0.0.14 on
and sets no upper bound, so an installer takes the newest, which lacks functions that this
TensorFlow calls: its import then ends the process. Of those tried, 0.0.17, 0.0.21.1, 0.0.24 and
0.0.29 are loaded, 0.0.34 and 0.0.52 are not. 0.0.21.1 is the one of Colab's TPU runtime.
"""

from __future__ import annotations

import re

TENSORFLOW_VERSION = "2.20.0"
LIBTPU_VERSION = "0.0.21.1"
REQUIREMENTS = (f"tensorflow-tpu=={TENSORFLOW_VERSION}", f"libtpu=={LIBTPU_VERSION}")
_ENDS_THE_IMPORT_FROM = (0, 0, 34)


def misfit(tensorflow_tpu: str, libtpu: str | None) -> str | None:
    """Return what is wrong with the libtpu beside a TPU build; None where nothing is known."""
    if libtpu is None:
        return "libtpu, by which it reaches the TPU, is not installed"
    numbers = tuple(int(part) for part in re.findall(r"\d+", libtpu))
    if tensorflow_tpu == TENSORFLOW_VERSION and numbers >= _ENDS_THE_IMPORT_FROM:
        return f"libtpu {libtpu} lacks functions that it calls, so importing it ends the process"
    return None


WITHOUT_TPU = {"TPU_LIBRARY_PATH": "/no-tpu-is-taken"}
"""An environment that lets a TPU build be imported without libtpu, which would take the TPU."""
