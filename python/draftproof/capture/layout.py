"""The .safetensors layout: eight bytes of header length, a JSON header, then the arrays side by side.

The header is written before the data, so all shapes are fixed first. The arrays follow each other without gaps, larger
element types first, so that every array is aligned to its element size.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..program import short
from .errors import CaptureError

MOST_BYTES = 8 << 30
"""Largest number of bytes of arrays that the program reads from a file (`most_array_bytes` in captures/array.hpp)."""

_TYPES = {"float16": "F16", "float32": "F32", "float64": "F64", "int8": "I8", "int32": "I32", "int64": "I64"}
_NUMPY = {text: np.dtype(name).newbyteorder("<") for name, text in _TYPES.items()}
_UNIT = 8


@dataclass(frozen=True)
class ArraySpec:
    """Name, element type (`float32`, `int32`, ..) and shape of an array, and its first byte in the file."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    begin: int = 0

    @property
    def numpy(self) -> np.dtype[Any]:
        """The element type, little-endian."""
        return _NUMPY[_TYPES[self.dtype]]

    @property
    def row_bytes(self) -> int:
        """Bytes of one entry of the first dimension."""
        return self.numpy.itemsize * math.prod(self.shape[1:])

    @property
    def bytes(self) -> int:
        """Bytes of the whole array."""
        return self.numpy.itemsize * math.prod(self.shape)


def head(arrays: Sequence[ArraySpec], metadata: Mapping[str, str]) -> tuple[bytes, list[ArraySpec]]:
    """Returns the bytes before the data, and the arrays in the order of the file, with their first bytes set.

    arrays: with distinct names. Arrays of larger elements come first in the file, of equal ones in the given order.
    """
    placed, entries, offset = [], {}, 0
    for array in sorted(arrays, key=lambda array: -array.numpy.itemsize):
        entries[array.name] = {
            "dtype": _TYPES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [offset, offset + array.bytes],
        }
        placed.append(replace(array, begin=offset))
        offset += array.bytes
    text = json.dumps({"__metadata__": dict(metadata), **entries}, ensure_ascii=True, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _UNIT)
    before = len(text).to_bytes(_UNIT, "little") + text
    return before, [replace(array, begin=len(before) + array.begin) for array in placed]


def read_head(path: Path) -> dict[str, Any]:
    """Returns the JSON header of a file.

    Raises: CaptureError if the file is not a safetensors file.
    """
    with path.open("rb") as file:
        length = int.from_bytes(file.read(_UNIT), "little")
        text = file.read(length) if length <= path.stat().st_size - _UNIT else b""
    try:
        header = json.loads(text)
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict) or not isinstance(header.get("__metadata__", {}), dict):
        raise CaptureError(str(path), "no safetensors header", "a safetensors file")
    return header


def read(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """Returns all arrays of a file, memory-mapped and read-only, and its metadata.

    Raises: CaptureError if an entry does not follow the format, or reaches beyond the file.

    Cost: reads the header only; pages of an array are read when they are used.
    """
    header = read_head(path)
    size = path.stat().st_size
    with path.open("rb") as file:
        start = _UNIT + int.from_bytes(file.read(_UNIT), "little")
    metadata = header.pop("__metadata__", {})
    arrays = {}
    for name, entry in header.items():
        try:
            dtype, shape = _NUMPY[entry["dtype"]], tuple(int(n) for n in entry["shape"])
            begin, end = (int(n) for n in entry["data_offsets"])
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise CaptureError(f"{path}: {name}", f"entry {short(entry)}", "dtype, shape and data_offsets") from error
        good = begin >= 0 and min(shape, default=0) >= 0 and max(shape, default=0) <= MOST_BYTES
        if not good or end - begin != dtype.itemsize * math.prod(shape) or start + end > size:
            raise CaptureError(f"{path}: {name}", f"bytes {begin} to {end}", f"{shape} of {dtype} inside the file")
        if end == begin:
            arrays[name] = np.zeros(shape, dtype)
        else:
            arrays[name] = np.memmap(path, dtype=dtype, mode="r", offset=start + begin, shape=shape)
    return arrays, metadata
