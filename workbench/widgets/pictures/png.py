"""Pictures as PNG, written with the standard library."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
import numpy.typing as npt


def grey_png(pixels: npt.NDArray[np.uint8]) -> bytes:
    """Return an 8-bit grey PNG of the pixels, an array [height, width]."""
    height, width = pixels.shape
    rows = np.zeros((height, width + 1), np.uint8)
    rows[:, 1:] = pixels
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, body) for kind, body in parts)


def data_uri(png: bytes) -> str:
    """Return a data URI that contains the PNG."""
    return f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}"


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
