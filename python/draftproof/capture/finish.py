"""From a whole part file to the output: renamed, or copied with the unused entries cut off."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ..files import replaceable
from .layout import head
from .part import Part

_CHUNK_BYTES = 16 << 20
_FIRST_OF_1980 = (1980, 1, 1, 0, 0, 0)


def finish(part: Part, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Writes the output of `part` and removes the part file. The output appears at once and whole.

    shapes: final shapes of arrays of which the part file has more; in no dimension larger than there.

    A .npz is stored without compression and with fixed dates, and its metadata go into `NAME.json` beside it. The bytes
    depend on the rows and the metadata alone.

    Cost: no copy if the output is .safetensors and nothing is cut off, else one copy.
    """
    cut = {name: shape for name, shape in shapes.items() if shape != part.arrays[name].shape}
    if part.output.suffix == ".safetensors" and not cut:
        part.rename()
        return
    fresh = replaceable(part.output.with_name(part.output.name + ".new"))
    with fresh.open("wb") as file:
        if part.output.suffix == ".npz":
            _write_npz(file, part, cut)
        else:
            _write_safetensors(file, part, cut)
        file.flush()
        os.fsync(file.fileno())
    if part.output.suffix == ".npz":
        _write_sidecar(part)
    os.replace(fresh, part.output)
    part.discard()


def sidecar(output: Path) -> Path:
    """The file with the metadata of a .npz."""
    return output.with_suffix(".json")


def _write_safetensors(file: IO[bytes], part: Part, cut: Mapping[str, tuple[int, ...]]) -> None:
    wanted = [replace(array, shape=cut.get(name, array.shape)) for name, array in part.arrays.items()]
    before, placed = head(wanted, part.metadata)
    file.write(before)
    for array in placed:
        _copy(file, _trimmed(part, array.name, array.shape))


def _write_npz(file: IO[bytes], part: Part, cut: Mapping[str, tuple[int, ...]]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, array in part.arrays.items():
            shape = cut.get(name, array.shape)
            entry = zipfile.ZipInfo(f"{name}.npy", _FIRST_OF_1980)
            with archive.open(entry, "w", force_zip64=True) as target:
                described = {"descr": array.numpy.str, "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(target, described)
                _copy(target, _trimmed(part, name, shape))


def _write_sidecar(part: Part) -> None:
    path = replaceable(sidecar(part.output))
    fresh = replaceable(path.with_name(path.name + ".new"))
    fresh.write_text(json.dumps(part.metadata, indent=1, sort_keys=True) + "\n", encoding="ascii")
    os.replace(fresh, path)


def _trimmed(part: Part, name: str, shape: tuple[int, ...]) -> NDArray[Any]:
    return part.view(name)[tuple(slice(0, n) for n in shape)]


def _copy(file: IO[bytes], array: NDArray[Any]) -> None:
    rows = max(1, _CHUNK_BYTES // max(1, array.itemsize * int(np.prod(array.shape[1:]))))
    for first in range(0, array.shape[0], rows):
        file.write(array[first : first + rows].tobytes())
