"""Pictures as PNG."""

from __future__ import annotations

import base64
from io import BytesIO

import numpy as np
import numpy.typing as npt
from PIL import Image


def png_of(pixels: npt.NDArray[np.uint8]) -> bytes:
    """Return a PNG of pixels [height, width], grey, or [height, width, 3 or 4], RGB or RGBA."""
    file = BytesIO()
    Image.fromarray(pixels).save(file, format="PNG")
    return file.getvalue()


def data_uri(png: bytes) -> str:
    """Return a data URI that contains the PNG."""
    return f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}"
