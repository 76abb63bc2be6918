"""From the folder of a recorder to the file of its trace."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import IO

import numpy as np

from ..files import replaceable
from .errors import CaptureError
from .layout import ArraySpec, head
from .trace import INDEX, INDEX_COLUMNS, arrays_of


def recover(output: str | os.PathLike[str]) -> int:
    """Writes the trace of a recorder that was never closed, from its folder `output.part`, up to its last whole block.

    Returns: the number of blocks.

    Raises: CaptureError if there is no such folder.
    """
    path = Path(output)
    folder = folder_of(path)
    if not (folder / "about.json").is_file():
        raise CaptureError(str(folder), "no unfinished trace", "the folder of a recorder")
    return assemble(folder, path)


def folder_of(output: Path) -> Path:
    """The folder in which the trace `output` grows."""
    return output.with_name(output.name + ".part")


def assemble(folder: Path, output: Path) -> int:
    """Writes the trace up to the last block of which every array is whole, and removes the folder.

    Returns: the number of blocks.
    """
    form = json.loads((folder / "about.json").read_text(encoding="ascii"))
    specs = arrays_of(form["columns"], form["top"], form["dtype"])
    raw = (folder / INDEX).read_bytes()
    index = np.frombuffer(raw[: len(raw) // (INDEX_COLUMNS * 8) * INDEX_COLUMNS * 8], "<i8").reshape(-1, INDEX_COLUMNS)
    whole = len(index)
    for name, (counter, array) in specs.items():
        have = (folder / name).stat().st_size // array.row_bytes
        whole = min(whole, int(np.searchsorted(index[:, counter], have, side="right")))
    index = index[:whole]
    ends = index[-1, :3] if whole else np.zeros(3, dtype=np.int64)
    arrays = [
        ArraySpec(array.name, array.dtype, (int(ends[counter]), *array.shape[1:])) for counter, array in specs.values()
    ]
    small = {
        name: np.concatenate([[0], index[:, column]]).astype("<i8")
        for column, name in enumerate(("block_start", "draft_start", "q_start"))
    }
    small |= {"accepted": index[:, 3].astype("<i4"), "request": index[:, 4].astype("<i8")}
    arrays += [ArraySpec(name, array.dtype.name, array.shape) for name, array in small.items()]
    counts = {"blocks": str(whole), "records": str(ends[0]), "drafts": str(ends[1])}
    before, placed = head(arrays, form["metadata"] | counts)
    output = replaceable(output)
    fresh = replaceable(output.with_name(output.name + ".new"))
    with fresh.open("wb") as file:
        file.write(before)
        for array in placed:
            if array.name in small:
                file.write(small[array.name].tobytes())
            else:
                with (folder / array.name).open("rb") as source:
                    _copy(source, file, array.bytes)
        file.flush()
        os.fsync(file.fileno())
    os.replace(fresh, output)
    shutil.rmtree(folder)
    return whole


def _copy(source: IO[bytes], target: IO[bytes], count: int) -> None:
    while count:
        data = source.read(min(count, 16 << 20))
        if not data:
            raise CaptureError(source.name, f"an end {count} bytes too early", "all that the index counts")
        target.write(data)
        count -= len(data)
