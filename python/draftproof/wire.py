"""Frames of the protocol of doors (docs/doors-protocol.md): a length, then a safetensors blob."""

from __future__ import annotations

import json
import math
import mmap
import os
import struct
import sys
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

Fields = dict[str, Any]
Arrays = dict[str, NDArray[Any]]

_TYPES = {"F32": "<f4", "F64": "<f8", "F16": "<f2", "I32": "<i4", "I64": "<i8", "U8": "|u1", "BF16": "<u2"}
_NAMES = {np.dtype(_TYPES[name]): name for name in ("F32", "F64", "F16", "I32", "I64", "U8")}


class WireError(Exception):
    """The other side closed the connection in a message, or sent none."""


class Unmapped(Exception):
    """The host's shared memory cannot be mapped; `fields` are those of the request, which it sends again in a frame."""

    def __init__(self, fields: Fields, reason: str) -> None:
        super().__init__(reason)
        self.fields = fields

    def reply(self) -> Fields:
        """The message that says so to the host."""
        return {"type": "error", "id": self.fields["id"], "message": str(self), "unmapped": True}


def shares_memory() -> Fields:
    """What a hello adds to say that large arrays may lie in shared memory; nothing where there is no such memory."""
    return {"shared_memory": True} if sys.platform == "linux" else {}


class SharedMemory:
    """The host's memory as it is named in requests, mapped for reading once for each growth."""

    def __init__(self) -> None:
        self._name: tuple[str, int, int] | None = None
        self._memory: mmap.mmap | None = None

    def arrays(self, fields: Fields) -> Arrays:
        """The arrays of the field `shared`, read-only and in place; they change with the next request.

        Raises: Unmapped if the memory cannot be mapped, KeyError, TypeError or ValueError if the field is none.
        """
        shared = fields["shared"]
        name = (str(shared["path"]), int(shared["inode"]), int(shared["bytes"]))
        if name != self._name:
            self._name, self._memory = None, None  # its pages go with the last array on them
            try:
                self._memory = _mapped(*name)
            except (OSError, ValueError) as error:
                raise Unmapped(fields, f"request: shared: path: found {error}, wanted a file to map") from error
            self._name = name
        assert self._memory is not None
        arrays: Arrays = {}
        for key, entry in shared["arrays"].items():
            arrays[key] = _array(self._memory, entry["offset"], entry["shape"], entry["dtype"])
        return arrays


def _mapped(path: str, inode: int, size: int) -> mmap.mmap:
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(file)
        if (found.st_ino, found.st_size) != (inode, size):
            raise ValueError(f"{path}, file {found.st_ino} of {found.st_size} bytes instead of {inode} of {size}")
        return mmap.mmap(file, size, access=mmap.ACCESS_READ)
    finally:
        os.close(file)


def read_frame(stream: BinaryIO, shared: SharedMemory | None = None) -> tuple[Fields, Arrays] | None:
    """The fields and arrays of the next message; None at the end. `shared` finds those that lie in shared memory.

    Arrays are read-only views of the bytes read or shared, those of bfloat16 are float32.
    Raises: WireError if the stream ends in a message or the message is none; Unmapped after a whole request.
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
        arrays = {}
        for name, entry in header.items():
            first, last = entry["data_offsets"]
            arrays[name] = _array(blob, start + first, entry["shape"], entry["dtype"])
            if arrays[name].size * np.dtype(_TYPES[entry["dtype"]]).itemsize != last - first:
                raise ValueError(f"{name}: shape {entry['shape']} in {last - first} bytes")
        if shared is not None and "shared" in fields:
            arrays |= shared.arrays(fields)
        return fields, arrays
    except (ValueError, KeyError, TypeError, struct.error) as error:
        raise WireError(f"frame: found no message ({error})") from error


def _array(memory: bytes | mmap.mmap, offset: int, shape: list[int], name: str) -> NDArray[Any]:
    flat: NDArray[Any] = np.frombuffer(memory, np.dtype(_TYPES[name]), math.prod(shape), offset)
    if name == "BF16":  # the upper half of a float32
        flat = (flat.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return flat.reshape(shape)


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
