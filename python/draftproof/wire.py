"""Frames of the protocol of adapters (docs/adapters-protocol.md): a length, then a safetensors blob."""

from __future__ import annotations

import json
import math
import struct
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

Fields = dict[str, Any]
Arrays = dict[str, NDArray[Any]]

_TYPES = {"F32": "<f4", "F64": "<f8", "F16": "<f2", "I32": "<i4", "I64": "<i8", "U8": "|u1", "BF16": "<u2"}
_MOST_BYTES = 1 << 40
_NAMES = {np.dtype(_TYPES[name]): name for name in ("F32", "F64", "F16", "I32", "I64", "U8")}


class WireError(Exception):
    """The other side closed the connection within a message, or sent bytes that are not a message."""


def read_frame(stream: BinaryIO) -> tuple[Fields, Arrays] | None:
    """Returns the fields and arrays of the next message; None at the end of the stream.

    Arrays are read-only views of the bytes read; bfloat16 becomes float32.
    Raises: WireError if the stream ends in a message or the bytes are no message.
    """
    head = stream.read(8)
    if not head:
        return None
    if len(head) < 8:
        raise WireError(f"frame: got {len(head)} bytes, expected a length of 8")
    size = struct.unpack("<Q", head)[0]
    if size > _MOST_BYTES:
        raise WireError(f"frame: got a length of {size}, expected at most {_MOST_BYTES}")
    blob = stream.read(size)
    if len(blob) < size or size < 8:
        raise WireError(f"frame: got {len(blob)} bytes, expected {size}")
    try:
        start = 8 + struct.unpack_from("<Q", blob)[0]
        header = json.loads(blob[8:start])
        fields = json.loads(header.pop("__metadata__")["message"])
        if not isinstance(fields, dict) or not isinstance(fields.get("type"), str):
            raise ValueError("a message without a type")
        arrays = {}
        for name, entry in header.items():
            first, last = entry["data_offsets"]
            arrays[name] = _array(blob, start + first, entry["shape"], entry["dtype"])
            if arrays[name].size * np.dtype(_TYPES[entry["dtype"]]).itemsize != last - first:
                raise ValueError(f"{name}: shape {entry['shape']} in {last - first} bytes")
        return fields, arrays
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError, struct.error) as error:
        raise WireError(f"frame: got no message ({error})") from error


def _array(memory: bytes, offset: int, shape: list[int], name: str) -> NDArray[Any]:
    flat: NDArray[Any] = np.frombuffer(memory, np.dtype(_TYPES[name]), math.prod(shape), offset)
    if name == "BF16":  # the upper half of a float32
        flat = (flat.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return flat.reshape(shape)


def frame(fields: Fields, arrays: Arrays) -> bytes:
    """Returns the bytes of a message. Wide elements come first and spaces pad the header, so each array is aligned."""
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
