"""The layout of a message with buffers in one binary frame of the socket.

First comes the length of the header in bytes, a little-endian uint32. Then comes the header, JSON
in UTF-8, padded with blanks so that the buffers begin at a multiple of 8 bytes. The buffers come
last, each padded with zeros to a multiple of 8 bytes. The header's `bufferBytes` has their lengths
without the padding.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import Any

ALIGNMENT = 8


def packed(content: dict[str, Any], buffers: Sequence[bytes] = ()) -> str | bytes:
    """Return a message as a frame: text if there are no buffers, else bytes."""
    if not buffers:
        return json.dumps(content)
    header = json.dumps({**content, "bufferBytes": [len(each) for each in buffers]}).encode()
    header += b" " * (-(4 + len(header)) % ALIGNMENT)
    padded = (part + bytes(-len(part) % ALIGNMENT) for part in buffers)
    return b"".join([struct.pack("<I", len(header)), header, *padded])
