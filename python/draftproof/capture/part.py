"""An unfinished capture: a part file with arrays of final shapes, and a small JSON file that states how many entries
of the arrays are valid. When the capture is finished, the part file becomes the output.

    run.safetensors.part        header, then the arrays; rows after the committed ones may have any content
    run.safetensors.part.json   {"units": 12, "counts": {"rows": 96}, "sums": {..}}

A commit writes the data to the disk first and then replaces the JSON file, so a process that ends at any moment leaves
two files that can be continued. The header has the models, the options and the hash of the texts: a part file is
continued if its header is, byte for byte, the header that the new run would write.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ..files import replaceable, written
from ..program import short
from .errors import CaptureError
from .layout import MOST_BYTES, ArraySpec, head, read_head

COMMIT_SECONDS = 1.0
"""Least time between two commits. A killed run loses at most this much work and the unit in progress."""


_CHUNK_BYTES = 16 << 20
_FIRST_OF_1980 = (1980, 1, 1, 0, 0, 0)


@dataclass
class Progress:
    """The valid part of a part file.

    units: number of pieces of text that are done.
    counts: numbers of valid entries, by the name of a counter.
    sums: running sums for messages.
    """

    units: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    sums: dict[str, float] = field(default_factory=dict)

    def check(self) -> None:
        """Raises: TypeError for values of other types, ValueError for negative counts."""
        for name, found, kind in (("counts", self.counts, int), ("sums", self.sums, int | float)):
            if not isinstance(found, dict) or not all(isinstance(value, kind) for value in found.values()):
                raise TypeError(f"{name}: {short(found)}")
        if not isinstance(self.units, int) or min(self.units, *self.counts.values(), 0) < 0:
            raise ValueError(f"units, counts: {short(self.units)}, {short(self.counts)}")


class Part:
    """The part file of `output`.

    arrays: with the largest shapes that may be needed; the file is sparse, so unused entries take no disk space.
    metadata: strings, fixed for the whole run.
    restart: discards a part file that exists.

    Raises: CaptureError if the data may exceed 8 GiB, if another process has locked the file (flock), or if a part file
    of another capture exists. FileExistsError if the output, the part file or its JSON file exists and is not a regular
    file.
    """

    def __init__(
        self, output: Path, arrays: Sequence[ArraySpec], metadata: Mapping[str, str], *, restart: bool = False
    ) -> None:
        output = self.output = replaceable(output)
        self.path = replaceable(output.with_name(output.name + ".part"))
        self.metadata = dict(metadata)
        self._json = replaceable(self.path.with_name(self.path.name + ".json"))
        self._head, placed = head(arrays, metadata)
        self.arrays = {array.name: array for array in placed}
        total = sum(array.bytes for array in placed)
        if total > MOST_BYTES:
            wanted = f"at most {MOST_BYTES} bytes: fewer positions, float16, or keep_mass"
            raise CaptureError(str(output), f"up to {total} bytes of arrays", wanted)
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.progress = Progress() if restart else self._existing()
            if self.progress.units == 0:
                os.ftruncate(self._file, 0)
                os.ftruncate(self._file, len(self._head) + total)
                self._write(self._head, 0)
                self.commit()
        except BlockingIOError:
            os.close(self._file)
            raise CaptureError(str(self.path), "a lock of another process", "one capture at a time") from None
        except BaseException:
            os.close(self._file)
            raise
        self._committed = time.monotonic()

    def put(self, name: str, first: int, rows: NDArray[Any]) -> None:
        """Writes `rows` as entries first, first + 1, .. of an array. The elements are converted to its type."""
        array = self.arrays[name]
        data = np.ascontiguousarray(rows, dtype=array.numpy)
        assert data.shape[1:] == array.shape[1:], (name, data.shape)
        if first + data.shape[0] > array.shape[0]:  # the progress file belongs to another part file
            found = f"{first} entries of {name} and {data.shape[0]} more"
            raise CaptureError(str(self._json), found, f"at most {array.shape[0]} entries")
        self._write(data.tobytes(), array.begin + first * array.row_bytes)

    def unit_done(self, now: Progress) -> None:
        """Stores the counts after a whole piece of text, and commits if the last commit is COMMIT_SECONDS ago.

        Counts and number of pieces change in one assignment, so that they agree after an interrupt, too.
        """
        now.units += 1
        self.progress = now
        if time.monotonic() - self._committed >= COMMIT_SECONDS:
            self.commit()

    def commit(self) -> None:
        """Writes everything up to the last whole piece to the disk (fsync), so that it survives a loss of power."""
        os.fsync(self._file)
        with written(self._json, "w") as file:
            json.dump(asdict(self.progress), file)
        self._committed = time.monotonic()

    def view(self, name: str) -> NDArray[Any]:
        """Returns a whole array, memory-mapped and read-only."""
        array = self.arrays[name]
        if array.bytes == 0:
            return np.zeros(array.shape, array.numpy)
        return np.memmap(self.path, dtype=array.numpy, mode="r", offset=array.begin, shape=array.shape)

    def count(self, name: str, expected: int | None = None) -> int:
        """Returns a count at the end of a capture. Raises: CaptureError if the progress file of a continued capture
        lacks the count, or the count is not `expected`."""
        found = self.progress.counts.get(name)
        if found is None or (expected is not None and found != expected):
            wanted = "a count" if expected is None else str(expected)
            raise CaptureError(f"{self._json}: {name}", str(found), f"{wanted}, or `restart`")
        return found

    def close(self) -> None:
        """Closes the part file and releases its lock. Both files stay."""
        os.close(self._file)

    def rename(self) -> None:
        """Renames the part file to the output. Requires that all entries of all arrays are used."""
        os.fsync(self._file)
        os.replace(self.path, self.output)
        self._json.unlink(missing_ok=True)

    def discard(self) -> None:
        """Removes both files, after the output was written from them."""
        self.path.unlink(missing_ok=True)
        self._json.unlink(missing_ok=True)

    def _existing(self) -> Progress:
        size, start = os.fstat(self._file).st_size, os.pread(self._file, len(self._head), 0)
        if size == 0 or (not self._json.is_file() and start in (self._head, bytes(len(self._head)))):
            return Progress()  # nothing was committed
        if start != self._head:
            raise CaptureError(str(self.path), self._difference(), "the part file of this capture, or `restart`")
        try:
            progress = Progress(**json.loads(self._json.read_text(encoding="ascii")))
            progress.check()
        except (ValueError, TypeError, RecursionError) as error:
            raise CaptureError(
                str(self._json), f"unreadable progress ({error})", "the file that the stopped run wrote"
            ) from error
        return progress

    def _difference(self) -> str:
        """Returns all options that differ between the headers of the part file and of this run, or else the first other
        entry that differs."""
        theirs = read_head(self.path)
        ours = json.loads(self._head[8:])
        old, new = theirs.pop("__metadata__", {}), ours.pop("__metadata__")
        for key in ["options", *sorted({*old, *new})]:
            if old.get(key) != new.get(key):
                theirs, ours = (_fields(key, entries.get(key)) for entries in (old, new))
                names = [name for name in {**ours, **theirs} if theirs.get(name) != ours.get(name)] or [key]
                values = [f"{one}: {_short(theirs.get(one))}, this run: {_short(ours.get(one))}" for one in names]
                return f"one of another capture ({'; '.join(values)})"
        return f"one with other arrays ({', '.join(sorted(theirs))})"

    def _write(self, data: bytes, offset: int) -> None:
        view = memoryview(data)
        while view:
            count = os.pwrite(self._file, view, offset)
            view, offset = view[count:], offset + count


def _fields(name: str, value: object) -> dict[str, object]:
    """Returns an entry of a header by its name; an object of JSON is split into fields as in `options.seed`."""
    try:
        found = json.loads(value) if isinstance(value, str) else value
        if isinstance(found, dict):
            return {one: part for key in found for one, part in _fields(f"{name}.{key}", found[key]).items()}
    except (ValueError, RecursionError):
        pass
    return {name: value}


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def finish(part: Part, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Writes the output of `part` atomically and removes the part file.

    shapes: final shapes of arrays that are smaller than in the part file; no dimension may be larger.

    A .npz is stored without compression and with fixed dates, so that its bytes depend on the rows alone. Its metadata
    are written to `NAME.json` beside it.

    Cost: a rename if the output is .safetensors and no array is smaller than in the part file, else one copy.
    """
    cut = {name: shape for name, shape in shapes.items() if shape != part.arrays[name].shape}
    if part.output.suffix == ".safetensors" and not cut:
        part.rename()
        return
    with written(part.output) as file:
        if part.output.suffix == ".npz":
            _write_npz(file, part, cut)
            file.flush()
            os.fsync(file.fileno())  # If the disk is full, this call fails before either file is replaced.
            _write_sidecar(part)
        else:
            _write_safetensors(file, part, cut)
    part.discard()


def sidecar(output: Path) -> Path:
    """Returns the path of the file with the metadata of a .npz."""
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
    with written(sidecar(part.output), "w") as file:
        file.write(json.dumps(part.metadata, indent=1, sort_keys=True) + "\n")


def _trimmed(part: Part, name: str, shape: tuple[int, ...]) -> NDArray[Any]:
    return part.view(name)[tuple(slice(0, n) for n in shape)]


def _copy(file: IO[bytes], array: NDArray[Any]) -> None:
    rows = max(1, _CHUNK_BYTES // max(1, array.itemsize * int(np.prod(array.shape[1:]))))
    for first in range(0, array.shape[0], rows):
        file.write(array[first : first + rows].tobytes())
