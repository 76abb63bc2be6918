"""Frames of the protocol of doors (docs/doors-protocol.md): a length, then a safetensors blob."""

from __future__ import annotations

import json
import struct
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

Fields = dict[str, Any]
Arrays = dict[str, NDArray[Any]]

_TYPES = {"F32": "<f4", "F64": "<f8", "F16": "<f2", "I32": "<i4", "I64": "<i8", "U8": "|u1", "BF16": "<u2"}
_NAMES = {np.dtype(_TYPES[name]): name for name in ("F32", "F64", "F16", "I32", "I64", "U8")}


class WireError(Exception):
    """The other side closed the connection in a message, or sent none."""


def read_frame(stream: BinaryIO) -> tuple[Fields, Arrays] | None:
    """The fields and arrays of the next message; None at the end.

    Arrays are views of the bytes read, those of bfloat16 are float32.
    Raises: WireError if the stream ends in a message or the message is none.
    """
    head = stream.read(8)
    if not head:
        return None
    if len(head) < 8:
        raise WireError(f"frame: found {len(head)} bytes, wanted a length of 8")
    size = struct.unpack("<Q", head)[0]
    blob = stream.read(size)
    if len(blob) < size or size < 8:
        raise WireError(f"frame: found {len(blob)} bytes, wanted {size}")
    try:
        start = 8 + struct.unpack_from("<Q", blob)[0]
        header = json.loads(blob[8:start])
        fields = json.loads(header.pop("__metadata__")["message"])
        return fields, {name: _array(blob, start, entry) for name, entry in header.items()}
    except (ValueError, KeyError, TypeError, struct.error) as error:
        raise WireError(f"frame: found no message ({error})") from error


def _array(blob: bytes, start: int, entry: Fields) -> NDArray[Any]:
    first, last = entry["data_offsets"]
    dtype = np.dtype(_TYPES[entry["dtype"]])
    flat: NDArray[Any] = np.frombuffer(blob, dtype, (last - first) // dtype.itemsize, start + first)
    if entry["dtype"] == "BF16":  # the upper half of a float32
        flat = (flat.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return flat.reshape(entry["shape"])


def frame(fields: Fields, arrays: Arrays) -> bytes:
    """The bytes of a message. Wide elements come first and blanks fill the header, so each array is aligned."""
    header: Fields = {"__metadata__": {"message": json.dumps(fields)}}
    ordered = sorted(arrays.items(), key=lambda item: -item[1].itemsize)
    offset = 0
    for name, array in ordered:
        end = offset + array.nbytes
        header[name] = {"dtype": _NAMES[array.dtype], "shape": array.shape, "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    head = struct.pack("<QQ", 8 + len(text) + offset, len(text)) + text
    return b"".join([head, *(np.ascontiguousarray(array).tobytes() for _, array in ordered)])
