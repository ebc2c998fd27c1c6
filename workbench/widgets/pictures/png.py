"""Pictures as PNG."""

from __future__ import annotations

import base64
from io import BytesIO

import numpy as np
import numpy.typing as npt
from PIL import Image


def grey_png(pixels: npt.NDArray[np.uint8]) -> bytes:
    """Return an 8-bit grey PNG of the pixels, an array [height, width]."""
    file = BytesIO()
    Image.fromarray(pixels).save(file, format="PNG")
    return file.getvalue()


def data_uri(png: bytes) -> str:
    """Return a data URI that contains the PNG."""
    return f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}"
